"""How much of the registry the catalog covers, on the torch that is installed."""

from __future__ import annotations

from msgspec import Struct

from fullgraph.catalog.parse import example_ids, read_example, unreachable
from fullgraph.registry.sources import require_installed


class Summary(Struct, frozen=True):
    entries: int
    live: int
    # Entries of this torch with an example; of those, with at least one fix.
    examples: int
    fixes: int
    unreachable: int
    # Live entries that are accounted for nowhere.
    missing: int


class Coverage(Struct, frozen=True):
    release: str
    summary: Summary
    examples: tuple[str, ...]
    fixes: tuple[str, ...]
    unreachable: dict[str, str]
    missing: tuple[str, ...]


def cover() -> Coverage:
    snapshot = require_installed()
    live = {each for each in snapshot.entries if snapshot.is_live(each)}
    examples = [each for each in example_ids() if each in snapshot.entries]
    fixed = [each for each in examples if (example := read_example(each)) and example.fixes]
    reasons = {each: why for each, why in unreachable().items() if each in snapshot.entries}
    missing = sorted(live - set(examples) - set(reasons))
    return Coverage(
        release=snapshot.release,
        summary=Summary(
            entries=len(snapshot.entries),
            live=len(live),
            examples=len(examples),
            fixes=len(fixed),
            unreachable=len(reasons),
            missing=len(missing),
        ),
        examples=tuple(examples),
        fixes=tuple(fixed),
        unreachable=reasons,
        missing=tuple(missing),
    )

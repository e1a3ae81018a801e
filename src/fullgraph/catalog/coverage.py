"""How many registry entries of the installed torch the catalog has examples for."""

from __future__ import annotations

from msgspec import Struct

from fullgraph.catalog.parse import example_ids, read_example, unreachable
from fullgraph.registry.sources import require_installed


class CoverageSummary(Struct, frozen=True):
    """The counts of a `Coverage`."""

    entries: int
    live: int
    # Entries with an example, and how many of these have at least one fix.
    examples: int
    fixes: int
    unreachable: int
    # Live entries with neither an example nor a reason for its absence.
    missing: int


class Coverage(Struct, frozen=True):
    """The ids of the entries behind each count; `unreachable` maps them to a reason."""

    release: str
    summary: CoverageSummary
    examples: tuple[str, ...]
    fixes: tuple[str, ...]
    unreachable: dict[str, str]
    missing: tuple[str, ...]


def measure_coverage() -> Coverage:
    """Return which entries of the installed torch have an example and a fix."""
    snapshot = require_installed()
    live = {each for each in snapshot.entries if snapshot.is_live(each)}
    examples = [each for each in example_ids() if each in snapshot.entries]
    fixed = [each for each in examples if (example := read_example(each)) and example.fixes]
    reasons = {each: why for each, why in unreachable().items() if each in snapshot.entries}
    missing = sorted(live - set(examples) - set(reasons))
    return Coverage(
        release=snapshot.release,
        summary=CoverageSummary(
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

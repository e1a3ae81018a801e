"""What the examples of the catalog did on each release of torch on which they were run.

`verified/` has one file per release, written by `fullgraph catalog check --record`. The files hold
ids, verdicts and names of fixes, never a text of torch.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

from fullgraph.catalog.parse import example_keys

VERIFIED = Path(__file__).parent / "verified"

# holds: every claim of the file is true. fix_fails: `breaks` does what the file says, but not
# every fix does. differs: it has this break, and something else is not as the file says.
# other_break: it breaks, but never with this entry. no_break: it is compiled without this break.
# not_run: it cannot be run, because it needs something that the release does not have.
Outcome = Literal["holds", "fix_fails", "differs", "other_break", "no_break", "not_run"]


class Verdict(Struct, frozen=True, omit_defaults=True):
    """The verdict on one example on one release."""

    outcome: Outcome
    # The fixes that do not do what the file says.
    fixes: tuple[str, ...] = ()


@cache
def verdicts() -> dict[str, dict[str, Verdict]]:
    """Return the verdicts by release, oldest first, and then by the key of the example."""
    from fullgraph.registry.releases import sort_key

    files = sorted(VERIFIED.glob("*.json"), key=lambda file: sort_key(file.stem))
    return {file.stem: read_verdicts(file) for file in files}


@cache
def fully_run_releases() -> tuple[str, ...]:
    """Return the releases on which every example was run, oldest first."""
    keys = set(example_keys())
    return tuple(release for release, found in verdicts().items() if keys <= set(found))


def read_verdicts(file: Path) -> dict[str, Verdict]:
    """Return the verdicts of one file."""
    return msgspec.json.decode(file.read_bytes(), type=dict[str, Verdict])


def verdicts_of(key: str) -> dict[str, Verdict]:
    """Return the verdicts on one example by release, oldest first."""
    return {release: found[key] for release, found in verdicts().items() if key in found}


def write_verdicts(file: Path, found: Mapping[str, Verdict]) -> None:
    """Write the verdicts on one release, one per line."""
    lines = [f'"{key}": {msgspec.json.encode(found[key]).decode()}' for key in sorted(found)]
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")

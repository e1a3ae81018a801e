"""What is kept of each program: one line of JSON in a folder of results, and the table of them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import msgspec
from msgspec import Struct

from bench._soundness.generate import generators

FILE = "programs.jsonl"


class Found(Struct, frozen=True):
    """A difference in a fix that is written, as a program and an input that show it."""

    mode: str
    problem: str
    # Source: the shrunk program, its fixed text, and the input.
    program: str
    fixed: str
    given: str


class Record(Struct, frozen=True):
    """One program of a seed: what became of it, and what was compared."""

    seed: int
    # The fixer whose shapes the program is made of.
    fixer: str
    # The best grade of its fixes; `refused` without any, `failed` if the program was not tried.
    state: str
    # The fixers of the fixes that are compared.
    used: tuple[str, ...] = ()
    # The grades and assumptions of all fixes, or the reason of a refusal.
    details: tuple[str, ...] = ()
    eager: int = 0
    rejected: int = 0
    compiled: int = 0
    differing: int = 0
    found: tuple[Found, ...] = ()
    seconds: float = 0.0


def records_in(folder: Path) -> list[Record]:
    """Return the records of a folder; of several with one seed the last one."""
    file = folder / FILE
    if not file.exists():
        return []
    lines = file.read_bytes().splitlines()
    found = [msgspec.json.decode(line, type=Record) for line in lines if line.endswith(b"}")]
    return list({each.seed: each for each in found}.values())


def append(folder: Path, record: Record) -> None:
    """Add one record; a run that is killed keeps all but its last one."""
    with (folder / FILE).open("ab") as file:
        file.write(msgspec.json.encode(record) + b"\n")


_STATES = ("safe", "changes", "assumes", "unverified", "refused", "failed")
_HEADINGS = ("fixer", "programs", *_STATES, "eager", "compiled", "differences")


def table(records: Iterable[Record]) -> str:
    """Return the numbers per fixer as a table of Markdown.

    A program counts for the fixer that it was made for. Its pairs count for each fixer whose fix
    is in the compared text.
    """
    records = list(records)
    rows = [_row(name, records) for name in generators()]
    total = ["all", str(len(records))]
    total += [str(sum(each.state == state for each in records)) for state in _STATES]
    total += [str(sum(getattr(e, what) for e in records)) for what in _SUMMED]
    lines = [_HEADINGS, ["---"] + ["---:"] * (len(_HEADINGS) - 1), *rows, total]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


_SUMMED = ("eager", "compiled", "differing")


def _row(name: str, records: list[Record]) -> list[str]:
    mine = [each for each in records if each.fixer == name]
    using = [each for each in records if name in each.used]
    row = [f"`{name}`", str(len(mine))]
    row += [str(sum(each.state == state for each in mine)) for state in _STATES]
    return row + [str(sum(getattr(e, what) for e in using)) for what in _SUMMED]

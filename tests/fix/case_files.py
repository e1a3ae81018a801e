"""The files of fixers' cases: read them, and update them after a fixer has changed.

    python -m tests.fix.case_files [FIXER]...

runs all cases of some fixers, or of all, and writes what the fixers make of them.
"""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path

import msgspec

from fullgraph.fix import fixers
from fullgraph.fix.fixers import Fixer, all_fixers
from fullgraph.fix.fixers._cases import Case, parse_cases
from fullgraph.fix.model import SearchResult
from tests.fix.run_case import fix_diff, refusal_of, search

FOLDERS = (Path(fixers.__file__).parent / "examples", Path(__file__).parent / "cases")
_FIRST_HEADING = re.compile(r"^## ", re.MULTILINE)


def files_of(fixer: str) -> list[Path]:
    """Return the files that hold the cases of a fixer."""
    return [path for folder in FOLDERS if (path := folder / f"{fixer}.md").exists()]


def cases_of(fixer: str) -> list[Case]:
    """Return the cases of a fixer: its examples first."""
    return [case for file in files_of(fixer) for case in parse_cases(file.read_text("utf-8"))]


def markdown_of(case: Case) -> str:
    """Return a case as it stands in a file."""
    parts = [f"## {case.name}"]
    parts += [case.about] if case.about else []
    parts.append(f"```python\n{case.program}```")
    if case.refused_by:
        parts.append(f"refused by {case.refused_by}: {case.reason}")
    else:
        parts.append(f"```diff\n{case.diff}```")
    return "\n\n".join(parts) + "\n"


def updated(case: Case, fixer: Fixer) -> Case:
    """Return a case with what the fixer makes of its program now."""
    with tempfile.TemporaryDirectory() as folder:
        if case.refused_by:
            refused_by, reason = refusal_of(case, Path(folder), fixer)
            return msgspec.structs.replace(case, refused_by=refused_by, reason=reason)
        result = search(case.program, Path(folder), fixer)
        if not result.fixes:
            raise SystemExit(_not_fixed(case, result))
        return msgspec.structs.replace(case, diff=fix_diff(result))


def _not_fixed(case: Case, result: SearchResult) -> str:
    """Return one line: the case, and for each break its id and why no fix was accepted."""
    breaks = [
        f"{each.cause.id or each.cause.type} (line {each.line}): "
        + ("; ".join(why.reason for why in (*each.refusals, *each.rejected)) or "not recognized")
        for each in result.remaining
    ]
    return f"{case.name}: not fixed. " + " ".join(breaks or ["The program has no break."])


def update(file: Path, fixer: Fixer) -> None:
    """Write a file of cases with what the fixer makes of them now."""
    text = file.read_text("utf-8")
    first = _FIRST_HEADING.search(text)
    head = text[: first.start()] if first else text
    cases = [markdown_of(updated(case, fixer)) for case in parse_cases(text)]
    file.write_text(head + "\n".join(cases), "utf-8")


def main(names: list[str]) -> None:
    """Update the cases of the named fixers; of all without a name."""
    for fixer in all_fixers():
        if not names or fixer.name in names:
            for file in files_of(fixer.name):
                print(f"{file.parent.name}/{file.name}", flush=True)
                update(file, fixer)


if __name__ == "__main__":
    main(sys.argv[1:])

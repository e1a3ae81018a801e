"""Breaks at a marked line, without running anything: for what a fixer can see is wrong."""

from __future__ import annotations

from fullgraph.fix.fixers import Spot, all_fixers
from fullgraph.fix.model import Candidate
from fullgraph.model.report import Cause

MARK = "# here"


def spot(source: str, id_: str = "GB0170", category: str = "data-dependent", **more: str) -> Spot:
    """A break at the line that ends with the mark; `at=` names where in the line it starts."""
    lines = source.splitlines()
    number = next(n for n, line in enumerate(lines, 1) if MARK in line)
    line = lines[number - 1]
    start = line.index(more["at"]) if "at" in more else len(line) - len(line.lstrip())
    return Spot(
        Cause(
            key="key",
            id=id_,
            type="a break",
            category=category,
            owner="yours",
            file="program.py",
            line=number,
            column=start + 1,
            function="f",
            occurrences=1,
            resumed=1,
            cut=0,
            skipped=0,
            raised=0,
            frames=(),
            explanation="",
            hints=(),
            context=more.get("context", ""),
            via=None,
            cascade_of=None,
            because="",
            excerpt=(),
            end_line=None,
            end_column=len(line.partition(MARK)[0].rstrip()) + 1,
            stack=(),
            rank=1,
            cascades=(),
            eager_frames=(),
            asked_for=False,
            advice="",
        ),
        source,
        {"program.py": source}.get,
    )


def offered(fixer: str, place: Spot) -> list[Candidate]:
    """What a fixer would try there."""
    return next(list(each.candidates(place)) for each in all_fixers() if each.name == fixer)

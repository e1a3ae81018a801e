"""Breaks at a marked line, without running the program: for decisions that need only the source."""

from __future__ import annotations

from fullgraph.fix.fixers import Proposal, all_fixers
from fullgraph.fix.model import Candidate, Refusal
from fullgraph.fix.source.context import BreakContext, SourceFile
from fullgraph.fix.source.edits import apply_edits
from tests.fix.causes import root_cause

MARK = "# here"


def break_at_mark(
    source: str, id_: str = "GB0170", category: str = "data-dependent", **more: str
) -> BreakContext:
    """Return a break at the line with the mark; `at=` is the text at which it starts."""
    lines = source.splitlines()
    number = next(n for n, line in enumerate(lines, 1) if MARK in line)
    line = lines[number - 1]
    start = line.index(more["at"]) if "at" in more else len(line) - len(line.lstrip())
    cause = root_cause(
        id=id_,
        category=category,
        line=number,
        column=start + 1,
        context=more.get("context", ""),
        end_column=len(line.partition(MARK)[0].rstrip()) + 1,
    )
    return BreakContext(cause, {"program.py": SourceFile("program.py", source)}.get)


def proposals_of(fixer: str, context: BreakContext) -> list[Proposal]:
    """Return what a fixer proposes for a break, candidates and refusals."""
    return next(list(each.propose(context)) for each in all_fixers() if each.name == fixer)


def candidates_of(fixer: str, context: BreakContext) -> list[Candidate]:
    """Return the candidates that a fixer proposes for a break."""
    return [each for each in proposals_of(fixer, context) if isinstance(each, Candidate)]


def refusals_of(fixer: str, context: BreakContext) -> list[Refusal]:
    """Return the refusals of a fixer for a break."""
    return [each for each in proposals_of(fixer, context) if isinstance(each, Refusal)]


def edited_text(fixer: str, context: BreakContext) -> str | None:
    """Return the file with the first candidate's edits; None without a candidate for the file."""
    for candidate in candidates_of(fixer, context):
        if candidate.file is not None:
            return apply_edits(context.text, candidate.file.edits)
    return None

"""Which root causes the time around graphs belongs to.

The profiler says in which compiled code a gap spends its time, and that code is there because of
the break with which its compile ended. Time outside of all compiled code belongs to the function
that Dynamo skipped. Without a profile, the functions that ran throughout the gap decide.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from fullgraph.analysis.cascades import find_cascades
from fullgraph.analysis.occurrences import Occurrence, list_occurrences, site_key
from fullgraph.analysis.state import AnalysisState, CompileKey
from fullgraph.model.events import Code, CodeLine, Compile, Cost, Gap, Piece, Skip
from fullgraph.model.owners import PYTHON, TORCH

Category = Literal["between", "guards", "skipped", "unexplained"]


@dataclass(frozen=True)
class Part:
    """A fraction of a gap, its category, and the key of its root cause; None if it has none."""

    fraction: float
    category: Category
    cause: str | None = None
    # What was counted there; None if nothing was.
    piece: Piece | None = None


@dataclass
class EagerCode:
    """The breaks by compile and by function, and the functions that run in eager mode."""

    by_compile: dict[CompileKey, list[Occurrence]] = field(default_factory=dict)
    by_code: dict[tuple[int, Code], list[Occurrence]] = field(default_factory=dict)
    skipped: set[tuple[int, Code]] = field(default_factory=set)


def find_eager_code(state: AnalysisState) -> EagerCode:
    """Return what is known about code that runs in eager mode."""
    found = EagerCode()
    for occurrence in state.result(list_occurrences):
        if occurrence.outcome != "raised":
            found.by_compile.setdefault(occurrence.compile, []).append(occurrence)
            key = occurrence.process, occurrence.event.root
            found.by_code.setdefault(key, []).append(occurrence)
    for process, skip in state.events(Skip):
        if state.owners.owner_of(skip.code.file) not in (TORCH, PYTHON):
            found.skipped.add((process, skip.code))
    for process, compiled in state.events(Compile):
        if compiled.outcome in ("limit", "skipped"):
            found.skipped.add((process, compiled.code))
    return found


def divide_gap(state: AnalysisState, process: int, cost: Cost, index: int) -> list[Part]:
    """Return the parts of a gap, without the time for guards; their fractions add up to 1."""
    gap = cost.gaps[index]
    if cost.backward and gap.profile is None:
        return [Part(1.0, "between")]
    lines = _lines(cost, gap, is_first=index == 0)
    total = sum(piece.seconds for piece in gap.profile.pieces) if gap.profile is not None else 0.0
    if gap.profile is None or total == 0 or not _has_labels(cost):
        return [_part_of_lines(state, process, lines, index)]
    parts = []
    for piece in gap.profile.pieces:
        found = None
        if not cost.backward and index == len(cost.graphs) and _only_returns(cost, piece.compile):
            found = Part(1.0, "unexplained")
        found = found or _part_of_compile(state, process, piece.compile)
        if found is None and cost.backward:
            # The eager rest of a backward pass.
            found = Part(1.0, "between")
        found = found or _part_of_skipped(state, process, lines, index)
        parts.append(Part(piece.seconds / total, found.category, found.cause, piece))
    return parts


def _has_labels(cost: Cost) -> bool:
    """Return whether Dynamo labelled its compiled code for the profiler, if any ran."""
    profiles = [gap.profile for gap in cost.gaps if gap.profile is not None]
    return (
        cost.backward
        or not cost.graphs
        or any(piece.compile for each in profiles for piece in each.pieces)
    )


def _lines(cost: Cost, gap: Gap, *, is_first: bool) -> tuple[CodeLine, ...]:
    """Return the functions that a gap may belong to, the likeliest first."""
    if not cost.graphs:
        # No graph ran, so nothing is known but the function itself.
        return (CodeLine(cost.code, cost.code.line),)
    return (*reversed(gap.frames), *(gap.nested if is_first else ()))


def _only_returns(cost: Cost, compile_id: str) -> bool:
    """Return whether compiled code has nothing to do after the last graph but to return."""
    unfinished = {line.compile for line in cost.gaps[-1].frames}
    return compile_id in cost.graphs and compile_id not in unfinished


def _part_of_compile(state: AnalysisState, process: int, compile_id: str) -> Part | None:
    """Return the break with which a compile ended; None if it ended without."""
    found = state.result(find_eager_code).by_compile.get((process, compile_id), [])
    return _part(state, found[-1]) if found else None


def _part_of_skipped(
    state: AnalysisState, process: int, lines: Iterable[CodeLine], index: int
) -> Part:
    """Return the innermost skipped function; nothing else runs outside of compiled code."""
    known = state.result(find_eager_code)
    for line in lines:
        occurrence = _occurrence_of(known, process, line)
        if occurrence is not None and occurrence.outcome == "skipped":
            return _part(state, occurrence)
        if (process, line.code) in known.skipped:
            return Part(1.0, "skipped")
    # Before the first graph, only torch runs: it finds the compiled code.
    return Part(1.0, "guards" if index == 0 else "unexplained")


def _part_of_lines(
    state: AnalysisState, process: int, lines: Iterable[CodeLine], index: int
) -> Part:
    """Return the innermost function that broke or was skipped."""
    known = state.result(find_eager_code)
    lines = tuple(lines)
    for line in lines:
        occurrence = _occurrence_of(known, process, line)
        if occurrence is not None:
            return _part(state, occurrence)
    return _part_of_skipped(state, process, lines, index)


def _occurrence_of(known: EagerCode, process: int, line: CodeLine) -> Occurrence | None:
    if line.compile:
        return next(reversed(known.by_compile.get((process, line.compile), [])), None)
    found = known.by_code.get((process, line.code), [])
    at_line = [each for each in found if root_line(each) == line.line]
    return next(iter(at_line or found), None)


def root_line(occurrence: Occurrence) -> int | None:
    """Return the line at which the compiled function broke; None if tracing had not begun."""
    stack = occurrence.event.stack
    return stack.frames[-stack.traced].line if stack.traced and stack.frames else None


def _part(state: AnalysisState, occurrence: Occurrence) -> Part:
    key = site_key(occurrence)
    cascade = state.result(find_cascades).get(key)
    category: Category = "skipped" if occurrence.outcome == "skipped" else "between"
    return Part(1.0, category, cascade.cause if cascade is not None else key)

"""Break sites: all occurrences of one type of break at one location, which one fix removes."""

from __future__ import annotations

from collections import Counter

from fullgraph.analysis.cascades import find_cascades
from fullgraph.analysis.occurrences import (
    Occurrence,
    break_frame,
    occurrences_by_site,
    qualified_name,
)
from fullgraph.analysis.state import AnalysisState
from fullgraph.model.events import Frame
from fullgraph.model.report import BreakSite
from fullgraph.registry.taxonomy import category_of


def list_sites(state: AnalysisState) -> tuple[BreakSite, ...]:
    """Return the break sites, sorted by location."""
    sites = state.result(break_sites).values()
    return tuple(sorted(sites, key=lambda site: (site.file, site.line, site.column or 0)))


def break_sites(state: AnalysisState) -> dict[str, BreakSite]:
    """Return the break sites by their key, in the order of their first occurrences."""
    return {
        key: _describe(state, key, occurrences)
        for key, occurrences in state.result(occurrences_by_site).items()
    }


def _describe(state: AnalysisState, key: str, occurrences: list[Occurrence]) -> BreakSite:
    # The deepest stack shows how the program reached the break, not only where it resumed.
    deepest = max(occurrences, key=lambda occurrence: occurrence.event.stack.traced)
    event = deepest.event
    reason, frame = event.reasons[0], break_frame(deepest)
    outcomes = Counter(occurrence.outcome for occurrence in occurrences)
    cascade = state.result(find_cascades).get(key)
    return BreakSite(
        key=key,
        id=reason.id,
        type=reason.type,
        category=category_of(reason.type, reason.explanation),
        owner=state.owners.owner_of_stack(event.stack.frames or (frame,)),
        file=frame.file,
        line=frame.line,
        column=frame.column,
        function=frame.function,
        occurrences=len(occurrences),
        resumed=outcomes["resumed"],
        cut=outcomes["cut"],
        skipped=outcomes["skipped"],
        raised=outcomes["raised"],
        frames=tuple(dict.fromkeys(qualified_name(each.event.root) for each in occurrences)),
        explanation=reason.explanation,
        hints=reason.hints,
        context=reason.context,
        via=state.owners.line_of_user(frame, event.stack.frames),
        cascade_of=cascade.cause if cascade else None,
        because=cascade.because if cascade else "",
        # The excerpt is that of the innermost frame, which is not `frame` before tracing begins.
        excerpt=event.stack.excerpt if event.stack.traced else (),
        end_line=frame.end_line,
        end_column=frame.end_column,
        stack=event.stack.frames,
        shown=state.owners.shown_frame(frame, event.stack.frames),
        also_from=_other_callers(state, deepest, occurrences),
    )


def _other_callers(
    state: AnalysisState, first: Occurrence, occurrences: list[Occurrence]
) -> tuple[Frame, ...]:
    """Return the lines that a reader can edit and that lead to a break, without the first one's."""
    callers: dict[tuple[str, int], Frame] = {}
    for occurrence in (first, *occurrences):
        frames = occurrence.event.stack.frames
        caller = state.owners.shown_frame(break_frame(occurrence), frames)
        if caller is not None:
            callers.setdefault((caller.file, caller.line), caller)
    return tuple(callers.values())[1:]

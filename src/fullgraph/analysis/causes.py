"""Root causes: the break sites that no other break causes, the most urgent first."""

from __future__ import annotations

import re

import msgspec

from fullgraph.analysis.cost import price_causes
from fullgraph.analysis.occurrences import occurrences_by_site
from fullgraph.analysis.sites import break_sites
from fullgraph.analysis.skipped_frames import find_skipped_frames
from fullgraph.analysis.state import AnalysisState
from fullgraph.model.events import Reason
from fullgraph.model.owners import YOURS
from fullgraph.model.report import BreakSite, CascadingBreak, RootCause
from fullgraph.registry.taxonomy import USER_REQUESTED, advice_for, category_of

# A function with its module or object, as in `json.dumps(`.
_CALL = re.compile(r"(\w+(?:\.\w+)*\.\w+)\(")
CHAINED = "it happened while Dynamo handled the break above"


def rank_causes(state: AnalysisState) -> tuple[RootCause, ...]:
    """Return the root causes, each with its cascading breaks and the frames that it skips.

    They are in the order of their price, if it was measured, and then of their urgency.
    """
    sites = state.result(break_sites).values()
    causes = [_cause(state, site) for site in sites if site.cascade_of is None]
    shares = {price.site: price.share for price in state.result(price_causes)}
    # The price decides where it is known.
    causes.sort(key=lambda cause: (-shares.get(cause.key, 0.0), _urgency(cause)))
    return tuple(
        msgspec.structs.replace(cause, rank=rank) for rank, cause in enumerate(causes, start=1)
    )


def _urgency(cause: RootCause) -> tuple[bool, bool, int, int, bool, str, int, int]:
    """Return a sort key: the most expensive first, breaks that the program requests last."""
    return (
        cause.user_requested,
        not cause.raised,
        -len(cause.skipped_frames),
        -cause.occurrences,
        cause.owner != YOURS,
        cause.file,
        cause.line,
        cause.column or 0,
    )


def _cause(state: AnalysisState, site: BreakSite) -> RootCause:
    skipped = [
        frame.qualified for frame in state.result(find_skipped_frames) if frame.site == site.key
    ]
    return RootCause(
        **msgspec.structs.asdict(site),
        rank=0,
        cascades=(*_chained(state, site), *_cascading_sites(state, site)),
        skipped_frames=tuple(dict.fromkeys(skipped)),
        user_requested=site.category == USER_REQUESTED,
        advice=advice_for(site.category, site.type, site.explanation, _calls(site)),
    )


def _calls(site: BreakSite) -> tuple[str, ...]:
    """Return the names of the functions that the code at a break calls."""
    if site.shown is not None:
        # The column of the call in this line is not known.
        return tuple(_CALL.findall(site.shown.code))
    line = next((each.text for each in site.excerpt if each.number == site.line), "")
    found = _CALL.match(line, max(site.column or 1, 1) - 1)
    return (found[1],) if found else ()


def _chained(state: AnalysisState, site: BreakSite) -> list[CascadingBreak]:
    """Return the breaks that Dynamo reports together with this one."""
    counts: dict[Reason, int] = {}
    for occurrence in state.result(occurrences_by_site)[site.key]:
        for reason in occurrence.event.reasons[1:]:
            # The context and the hints may differ between occurrences.
            kind = Reason(reason.type, reason.id, reason.explanation)
            counts[kind] = counts.get(kind, 0) + 1
    return [_cascade(site, reason, count, CHAINED) for reason, count in counts.items()]


def _cascading_sites(state: AnalysisState, site: BreakSite) -> list[CascadingBreak]:
    return [
        _cascade(
            other, Reason(other.type, other.id, other.explanation), other.occurrences, other.because
        )
        for other in state.result(break_sites).values()
        if other.cascade_of == site.key
    ]


def _cascade(site: BreakSite, reason: Reason, count: int, because: str) -> CascadingBreak:
    return CascadingBreak(
        id=reason.id,
        type=reason.type,
        category=category_of(reason.type, reason.explanation),
        file=site.file,
        line=site.line,
        column=site.column,
        function=site.function,
        occurrences=count,
        because=because,
        shown=site.shown,
    )

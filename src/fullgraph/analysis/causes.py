"""Ranks the causes, each with its cascades and with the frames that run in eager because of it."""

from __future__ import annotations

import msgspec

from fullgraph.analysis.state import Ledger
from fullgraph.model.events import Reason
from fullgraph.model.report import YOURS, Cascade, Cause, Site
from fullgraph.registry.taxonomy import ASKED_FOR, advice_for, category_of

CHAINED = "Dynamo met it while it handled the break above"


def rank_causes(ledger: Ledger) -> None:
    causes = [_cause(ledger, site) for site in ledger.sites.values() if site.cascade_of is None]
    causes.sort(key=_urgency)
    ledger.causes = [
        msgspec.structs.replace(cause, rank=rank) for rank, cause in enumerate(causes, start=1)
    ]


def _urgency(cause: Cause) -> tuple[bool, bool, int, int, bool, str, int, int]:
    """What costs most comes first; what the program asked for comes last."""
    return (
        cause.asked_for,
        not cause.raised,
        -len(cause.eager_frames),
        -cause.occurrences,
        cause.owner != YOURS,
        cause.file,
        cause.line,
        cause.column or 0,
    )


def _cause(ledger: Ledger, site: Site) -> Cause:
    frames = [frame.qualified for frame in ledger.eager_frames if frame.site == site.key]
    return Cause(
        **msgspec.structs.asdict(site),
        rank=0,
        cascades=(*_chained(ledger, site), *_cascading_sites(ledger, site)),
        eager_frames=tuple(dict.fromkeys(frames)),
        asked_for=site.category == ASKED_FOR,
        advice=advice_for(site.category),
    )


def _chained(ledger: Ledger, site: Site) -> list[Cascade]:
    counts: dict[Reason, int] = {}
    for occurrence in ledger.occurrences_of[site.key]:
        for reason in occurrence.event.reasons[1:]:
            # Context and hints differ from run to run; these do not.
            kind = Reason(reason.type, reason.id, reason.explanation)
            counts[kind] = counts.get(kind, 0) + 1
    return [_cascade(site, reason, count, CHAINED) for reason, count in counts.items()]


def _cascading_sites(ledger: Ledger, site: Site) -> list[Cascade]:
    return [
        _cascade(
            other, Reason(other.type, other.id, other.explanation), other.occurrences, other.because
        )
        for other in ledger.sites.values()
        if other.cascade_of == site.key
    ]


def _cascade(place: Site, reason: Reason, count: int, because: str) -> Cascade:
    return Cascade(
        id=reason.id,
        type=reason.type,
        category=category_of(reason.type, reason.explanation),
        file=place.file,
        line=place.line,
        column=place.column,
        function=place.function,
        occurrences=count,
        because=because,
    )

"""Occurrences of one type of break at one place are one site: that is what a person fixes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from fullgraph.analysis.state import Ledger, Occurrence
from fullgraph.model.events import Code, Frame
from fullgraph.model.report import YOURS, Site
from fullgraph.registry.taxonomy import category_of


def group_sites(ledger: Ledger) -> None:
    for occurrence in ledger.occurrences:
        ledger.occurrences_of.setdefault(site_key(occurrence), []).append(occurrence)
    for key, occurrences in ledger.occurrences_of.items():
        ledger.sites[key] = _describe(ledger, key, occurrences)


def site_key(occurrence: Occurrence) -> str:
    place = place_of(occurrence)
    column = "" if place.column is None else f":{place.column}"
    # Generated code has no file, so its line numbers say little without the function.
    function = f" {place.function}" if place.file.startswith("<") else ""
    return f"{occurrence.event.reasons[0].type} @ {place.file}:{place.line}{column}{function}"


def place_of(occurrence: Occurrence) -> Frame:
    """Where the break is; one that was raised before tracing began is at the function's start."""
    event = occurrence.event
    if event.stack.frames and event.stack.traced:
        return event.stack.frames[-1]
    return Frame(event.root.file, event.root.line, event.root.function)


def name_of(code: Code) -> str:
    return code.qualified or code.function


def _your_line(ledger: Ledger, place: Frame, frames: Sequence[Frame]) -> Frame | None:
    """The user's own line that leads to a place in somebody else's code."""
    if ledger.owners.of_file(place.file) == YOURS:
        return None
    return ledger.owners.your_line(frames)


def _describe(ledger: Ledger, key: str, occurrences: list[Occurrence]) -> Site:
    # The deepest stack shows most: how the program reached the place, not only where it resumed.
    fullest = max(occurrences, key=lambda o: o.event.stack.traced)
    event = fullest.event
    reason, place = event.reasons[0], place_of(fullest)
    owner = ledger.owners.of_stack(event.stack.frames or (place,))
    outcomes = Counter(occurrence.outcome for occurrence in occurrences)
    return Site(
        key=key,
        id=reason.id,
        type=reason.type,
        category=category_of(reason.type, reason.explanation),
        owner=owner,
        file=place.file,
        line=place.line,
        column=place.column,
        function=place.function,
        occurrences=len(occurrences),
        resumed=outcomes["resumed"],
        cut=outcomes["cut"],
        skipped=outcomes["skipped"],
        raised=outcomes["raised"],
        frames=tuple(dict.fromkeys(name_of(o.event.root) for o in occurrences)),
        explanation=reason.explanation,
        hints=reason.hints,
        context=reason.context,
        via=_your_line(ledger, place, event.stack.frames),
        cascade_of=None,
        because="",
        excerpt=event.stack.excerpt,
        end_line=place.end_line,
        end_column=place.end_column,
        stack=event.stack.frames,
    )

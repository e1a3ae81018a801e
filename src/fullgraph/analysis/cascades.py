"""Cascading breaks: break sites that exist only because of another one.

A cascading break disappears with its root cause, so the report shows it below the root cause. The
rules use only captured facts, never the names of models or libraries. Breaks that Dynamo itself
chains ("while handling this graph break, another graph break occurred") are not sites;
`analysis/causes.py` lists them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from fullgraph.analysis.occurrences import (
    Occurrence,
    break_frame,
    list_occurrences,
    occurrences_by_site,
    site_key,
)
from fullgraph.analysis.state import AnalysisState

_COMPREHENSIONS = frozenset({"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"})
# Dynamo's wording, in every release since 2.8.
_EARLIER = "caused by an earlier graph break"
# A cause comes shortly before its cascading break; a longer search would find coincidences.
_MAX_DISTANCE = 1000


class Cascade(NamedTuple):
    """The key of the root cause of a site, and the reason."""

    cause: str
    because: str


class Rule(NamedTuple):
    """`applies` must be true for every occurrence of a site; `is_cause` selects the cause."""

    because: str
    applies: Callable[[Occurrence], bool]
    is_cause: Callable[[Occurrence, Occurrence], bool]


def find_cascades(state: AnalysisState) -> dict[str, Cascade]:
    """Return the root cause of each cascading site, by the key of the site."""
    direct: dict[str, Cascade] = {}
    for key, occurrences in state.result(occurrences_by_site).items():
        cascade = _direct_cause(state, key, occurrences)
        if cascade is not None:
            direct[key] = cascade
    return {
        key: Cascade(_root(direct, cascade.cause), cascade.because)
        for key, cascade in direct.items()
    }


def _direct_cause(state: AnalysisState, key: str, occurrences: list[Occurrence]) -> Cascade | None:
    for rule in RULES:
        if all(map(rule.applies, occurrences)):
            for earlier in _earlier(state, occurrences[0]):
                if rule.is_cause(earlier, occurrences[0]) and site_key(earlier) != key:
                    return Cascade(site_key(earlier), rule.because)
    return None


def _earlier(state: AnalysisState, occurrence: Occurrence) -> Iterator[Occurrence]:
    """Yield the occurrences before this one in the same process, the nearest first."""
    occurrences = state.result(list_occurrences)
    for index in range(occurrence.index - 1, max(-1, occurrence.index - _MAX_DISTANCE), -1):
        if occurrences[index].process == occurrence.process:
            yield occurrences[index]


def _root(direct: dict[str, Cascade], key: str) -> str:
    # This ends because a cause is always earlier than its cascading break.
    return _root(direct, direct[key].cause) if key in direct else key


def _is_comprehension_frame(occurrence: Occurrence) -> bool:
    event = occurrence.event
    return (
        event.root.function in _COMPREHENSIONS
        and event.stack.traced == 1
        and "iter" in event.reasons[0].type.lower()
    )


def _is_in_enclosing_frame(earlier: Occurrence, occurrence: Occurrence) -> bool:
    frames = occurrence.event.stack.frames
    if len(frames) < 2:
        return True
    enclosing = (frames[-2].file, frames[-2].function)
    return any((f.file, f.function) == enclosing for f in earlier.event.stack.frames)


def _is_unknown_context_manager(occurrence: Occurrence) -> bool:
    event = occurrence.event
    return (
        event.reasons[0].type == "Unsupported context manager"
        and event.root.resumed_at == break_frame(occurrence).line
    )


def _is_on_same_line(earlier: Occurrence, occurrence: Occurrence) -> bool:
    first, second = break_frame(earlier), break_frame(occurrence)
    return (first.file, first.line) == (second.file, second.line)


def _has_hint_about_earlier_break(occurrence: Occurrence) -> bool:
    return any(_EARLIER in hint for hint in occurrence.event.reasons[0].hints)


def _is_in_same_compile(earlier: Occurrence, occurrence: Occurrence) -> bool:
    return earlier.compile == occurrence.compile


RULES = (
    Rule(
        "the comprehension runs as a frame of its own because its function was skipped",
        _is_comprehension_frame,
        _is_in_enclosing_frame,
    ),
    Rule(
        "the context manager is the unknown result of the call that breaks on this line",
        _is_unknown_context_manager,
        _is_on_same_line,
    ),
    Rule(
        "it happened while Dynamo handled the break before it",
        _has_hint_about_earlier_break,
        _is_in_same_compile,
    ),
)

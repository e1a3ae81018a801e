"""Cascading breaks: break sites that exist only because of another one.

A cascading break disappears with its root cause, so the report shows it below the root cause. The
rules use only captured facts, never the names of models or libraries. Breaks that Dynamo itself
chains ("while handling this graph break, another graph break occurred") are not sites;
`analysis/causes.py` lists them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from fullgraph.analysis.occurrences import (
    Occurrence,
    break_frame,
    list_occurrences,
    occurrences_by_site,
    site_key,
)
from fullgraph.analysis.state import AnalysisState
from fullgraph.model.events import Frame

_COMPREHENSIONS = frozenset({"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"})
# Dynamo's wording, in every release since 2.8.
_EARLIER = "caused by an earlier graph break"
_FUNCTORCH = "/torch/_functorch/"
_POLYFILLS = "/torch/_dynamo/polyfills/"
# A cause comes shortly before its cascading break; a longer search would find coincidences.
_MAX_DISTANCE = 1000
# A rule must find a cause for each of the first occurrences of a site.
_MAX_CHECKED = 10


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
            causes = [_cause_of(state, key, rule, each) for each in occurrences[:_MAX_CHECKED]]
            if causes[0] is not None and None not in causes:
                return Cascade(causes[0], rule.because)
    return None


def _cause_of(state: AnalysisState, key: str, rule: Rule, occurrence: Occurrence) -> str | None:
    """Return the key of the site that the rule names as the cause; None if it names none."""
    found = (
        site_key(earlier)
        for earlier in _earlier(state, occurrence)
        if rule.is_cause(earlier, occurrence)
    )
    return next((cause for cause in found if cause != key), None)


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
    reason = event.reasons[0]
    # Up to torch 2.12 the type is about any method, and the context names the iterator.
    return (
        event.root.function in _COMPREHENSIONS
        and event.stack.traced == 1
        and "iter" in f"{reason.type} {reason.context}".lower()
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


def _is_in_later_attempt(occurrence: Occurrence) -> bool:
    return bool(occurrence.event.compile) and (
        occurrence.event.attempt > 0 or _has_hint_about_earlier_break(occurrence)
    )


def _has_hint_about_earlier_break(occurrence: Occurrence) -> bool:
    return any(_EARLIER in hint for hint in occurrence.event.reasons[0].hints)


def _is_in_same_compile(earlier: Occurrence, occurrence: Occurrence) -> bool:
    return earlier.compile == occurrence.compile


def _is_in_functorch(occurrence: Occurrence) -> bool:
    return occurrence.event.reasons[0].type == "Unsupported functorch tracing attempt"


def _traced_the_transform(earlier: Occurrence, occurrence: Occurrence) -> bool:
    """Return whether Dynamo was tracing a transform that this frame runs in, before it broke."""
    callers = _functions(_callers(occurrence))
    return any(
        _FUNCTORCH in frame.file.replace("\\", "/") and (frame.file, frame.function) in callers
        for frame in _traced(earlier)
    )


def _is_under_construction(occurrence: Occurrence) -> bool:
    event = occurrence.event
    return event.reasons[0].type == "Uninitialized nn.Module" and event.root.function == "__init__"


def _traced_the_function(earlier: Occurrence, occurrence: Occurrence) -> bool:
    root = occurrence.event.root
    return (root.file, root.function) in _functions(_traced(earlier))


def _traced_a_caller(earlier: Occurrence, occurrence: Occurrence) -> bool:
    """Return whether Dynamo was tracing this function, or one that calls it, before it broke."""
    root = occurrence.event.root
    callers = _functions(_callers(occurrence)) | {(root.file, root.function)}
    return not callers.isdisjoint(_functions(_traced(earlier)))


def _has_carried_value(occurrence: Occurrence) -> bool:
    """Return whether the break is about an iterator or a context manager that crossed a break."""
    event = occurrence.event
    reason = event.reasons[0]
    text = f"{reason.type}\n{reason.explanation}\n{reason.context}"
    return any(re.search(rf"\b{re.escape(name)}\b", text) for name in event.carried)


def _is_new_frame(occurrence: Occurrence) -> bool:
    event = occurrence.event
    return event.root.resumed_at is None and event.stack.traced > 0


def _traced_past_the_line(earlier: Occurrence, occurrence: Occurrence) -> bool:
    """Return whether Dynamo traced this call as a part of its caller, past the line that breaks.

    The caller broke deeper inside, so Dynamo compiles the function on its own. What it could trace
    before it could trace again.
    """
    root, line = occurrence.event.root, _traced(occurrence)[0].line
    caller = _caller(_callers(occurrence))
    frames = earlier.event.stack.frames
    first_inlined = len(frames) - earlier.event.stack.traced + 1
    return any(
        (frame.file, frame.function) == (root.file, root.function)
        and frame.line > line
        and caller is not None
        and _caller(frames[:index]) == caller
        for index, frame in enumerate(frames)
        if index >= first_inlined
    )


def _traced(occurrence: Occurrence) -> Sequence[Frame]:
    """Return the frames that Dynamo was tracing, the outermost first."""
    stack = occurrence.event.stack
    return stack.frames[len(stack.frames) - stack.traced :]


def _callers(occurrence: Occurrence) -> Sequence[Frame]:
    """Return the frames that called the function that Dynamo was compiling."""
    stack = occurrence.event.stack
    return stack.frames[: len(stack.frames) - stack.traced]


def _functions(frames: Iterable[Frame]) -> set[tuple[str, str]]:
    return {(frame.file, frame.function) for frame in frames}


def _caller(frames: Sequence[Frame]) -> tuple[str, int, str] | None:
    """Return the last of `frames` that is code of the program; Dynamo traces polyfills instead."""
    for frame in reversed(frames):
        if _POLYFILLS not in frame.file.replace("\\", "/"):
            return frame.file, frame.line, frame.function
    return None


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
        _is_in_later_attempt,
        _is_in_same_compile,
    ),
    Rule(
        "the transform runs in eager mode because Dynamo could not trace all of its function",
        _is_in_functorch,
        _traced_the_transform,
    ),
    Rule(
        "the module is constructed by a function that was split or skipped",
        _is_under_construction,
        _traced_a_caller,
    ),
    Rule(
        "Dynamo cannot trace an iterator or a context manager that was created before a break",
        _has_carried_value,
        _traced_the_function,
    ),
    Rule(
        "Dynamo traced this line as a part of the caller, which then broke",
        _is_new_frame,
        _traced_past_the_line,
    ),
)

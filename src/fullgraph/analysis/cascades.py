"""Which sites exist only because of another one.

A cascade vanishes with its cause, so it is shown under it and never counted as work to do. The
rules look at what was captured, never at names of models or libraries. (What Dynamo itself
chains, "while handling this graph break, another graph break occurred", is no site at all: it is
listed by `analysis/causes.py`.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import msgspec

from fullgraph.analysis.sites import place_of, site_key
from fullgraph.analysis.state import Ledger, Occurrence

_COMPREHENSIONS = frozenset({"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"})
# How Dynamo words it, in every release since 2.8.
_EARLIER = "caused by an earlier graph break"
# A cause lies close before its cascade; looking further back would only find coincidences.
_HORIZON = 1000


class Rule(NamedTuple):
    """`fits` must hold for every occurrence of a site; `led_here` picks the earlier break."""

    because: str
    fits: Callable[[Occurrence], bool]
    led_here: Callable[[Occurrence, Occurrence], bool]


def find_cascades(ledger: Ledger) -> None:
    for key, site in ledger.sites.items():
        occurrences = ledger.occurrences_of[key]
        for rule in RULES:
            if not all(rule.fits(occurrence) for occurrence in occurrences):
                continue
            cause = _cause(ledger, occurrences[0], rule, key)
            if cause is not None:
                ledger.sites[key] = msgspec.structs.replace(
                    site, cascade_of=cause, because=rule.because
                )
                break
    for key, site in ledger.sites.items():
        if site.cascade_of is not None:
            root = _root(ledger, site.cascade_of)
            ledger.sites[key] = msgspec.structs.replace(site, cascade_of=root)


def _cause(ledger: Ledger, occurrence: Occurrence, rule: Rule, key: str) -> str | None:
    for earlier in _earlier(ledger, occurrence):
        if rule.led_here(earlier, occurrence) and site_key(earlier) != key:
            return site_key(earlier)
    return None


def _earlier(ledger: Ledger, occurrence: Occurrence) -> Iterator[Occurrence]:
    for index in range(occurrence.index - 1, max(-1, occurrence.index - _HORIZON), -1):
        earlier = ledger.occurrences[index]
        if earlier.process == occurrence.process:
            yield earlier


def _root(ledger: Ledger, key: str) -> str:
    # A cause is always earlier than its cascade, so this ends.
    above = ledger.sites[key].cascade_of
    return key if above is None else _root(ledger, above)


def _is_comprehension_frame(occurrence: Occurrence) -> bool:
    event = occurrence.event
    return (
        event.root.function in _COMPREHENSIONS
        and event.stack.traced == 1
        and "iter" in event.reasons[0].type.lower()
    )


def _left_the_enclosing_frame(earlier: Occurrence, occurrence: Occurrence) -> bool:
    frames = occurrence.event.stack.frames
    if len(frames) < 2:
        return True
    enclosing = (frames[-2].file, frames[-2].function)
    return any((f.file, f.function) == enclosing for f in earlier.event.stack.frames)


def _is_manager_of_unknown_value(occurrence: Occurrence) -> bool:
    event = occurrence.event
    return (
        event.reasons[0].type == "Unsupported context manager"
        and event.root.resumed_at == place_of(occurrence).line
    )


def _on_the_same_line(earlier: Occurrence, occurrence: Occurrence) -> bool:
    one, other = place_of(earlier), place_of(occurrence)
    return (one.file, one.line) == (other.file, other.line)


def _says_so(occurrence: Occurrence) -> bool:
    return any(_EARLIER in hint for hint in occurrence.event.reasons[0].hints)


def _in_the_same_compile(earlier: Occurrence, occurrence: Occurrence) -> bool:
    return earlier.compile == occurrence.compile


RULES = (
    Rule(
        "the comprehension became a frame of its own when the break left the enclosing function",
        _is_comprehension_frame,
        _left_the_enclosing_frame,
    ),
    Rule(
        "the context manager is the unknown result of the call that broke",
        _is_manager_of_unknown_value,
        _on_the_same_line,
    ),
    Rule(
        "it arose while Dynamo handled the break before it",
        _says_so,
        _in_the_same_compile,
    ),
)

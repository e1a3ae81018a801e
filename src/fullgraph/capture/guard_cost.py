"""What checking guards costs: all of a compile's at once, and the share of each.

torch checks guards in C++. The time of a whole check is measured by calling it. The share of one
guard is estimated: each is called alone, less the price of the call from Python, and the rest of
the whole check, which is spent on reaching the guarded values, is spread over them.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping
from statistics import median
from types import CodeType
from typing import Any, NamedTuple

from fullgraph.capture.dynamo_hooks import time_cold_check
from fullgraph.capture.guard_lines import without_comment
from fullgraph.capture.guard_sources import (
    MODULE_DICTS,
    FrameFacts,
    describe_source,
    facts_of_frame,
)
from fullgraph.capture.guards import RELATIONAL, child_managers
from fullgraph.model.events import ChangePlace, Guard

_LONGEST_TEXT = 300
# A batch of calls takes about this long, so that reading the clock does not count.
_BATCH_SECONDS = 2e-4
_BATCHES = 7
_COLD_CHECKS = 3
# How often a single guard is called: there may be thousands of them.
_GUARD_CALLS = 10
_GUARD_BATCHES = 3

# One of Dynamo's expressions for a value, such as `L['x'].size()[0]`.
_VALUE = re.compile(r"[LG]\[[^\]]+\](?:\.\w+|\[[^\]]*\]|\(\))*")
# The guards of state that belongs to no value.
_STATE = "torch"

_measured: dict[int, tuple[CodeType, float]] = {}


class CheckTiming(NamedTuple):
    """The seconds of one check with warm and with cold caches; None if it cannot be timed."""

    seconds: float | None
    cold_seconds: float | None


def measure_guards(code: CodeType) -> float | None:
    """Return the seconds that one check of the guards of a code object takes.

    It is the newest compiled code of `code`, timed when it was compiled, with warm caches. None if
    `code` was not compiled while the measure `guards` was on (`FULLGRAPH_MEASURE=guards`). To time
    guards without the measure, call `time_check` with a guard manager and the locals of a frame.
    """
    found = _measured.get(id(code))
    return found[1] if found is not None and found[0] is code else None


def keep_seconds(code: CodeType, seconds: float | None) -> None:
    """Keep what a check costs for `measure_guards`."""
    if seconds is not None:
        _measured[id(code)] = (code, seconds)


def time_check(manager: Any, values: Mapping[str, Any]) -> CheckTiming:
    """Return what one check of a guard manager costs, on the locals of a frame that passes it."""
    root = manager.root
    if not root.check(values):
        return CheckTiming(None, None)
    empty = type(root)()
    seconds = _time_calls(root.check, values) - _time_calls(empty.check, {})
    cold = [time_cold_check(root, values) for _ in range(_COLD_CHECKS)]
    known = [each for each in cold if each is not None]
    return CheckTiming(max(seconds, 0.0), median(known) if known else None)


def describe_guards(
    manager: Any, frame: Any, values: Mapping[str, Any], total: float | None
) -> tuple[Guard, ...]:
    """Return every guard of a frame with its share of `total`, the most expensive first."""
    scope = dict(manager.global_scope or {})
    names: dict[str, Any] = {"L": values, "G": scope.get("G"), **(manager.closure_vars or {})}

    def evaluate(source: str) -> Any:
        return eval(source, scope, names)

    leaves = list(_leaves(manager.root, evaluate, values))
    shares = _shares([leaf.seconds for leaf in leaves], total)
    facts = facts_of_frame(frame, evaluate)
    guards = [leaf.guard(facts, share) for leaf, share in zip(leaves, shares, strict=True)]
    return tuple(sorted(guards, key=lambda guard: -guard.seconds))


class _Leaf(NamedTuple):
    kind: str
    source: str
    text: str
    # The time of a call from Python; None if the guard cannot be called alone.
    seconds: float | None

    def guard(self, frame: FrameFacts, share: float) -> Guard:
        found = describe_source(self.source, frame)
        place = "torch" if self.source == _STATE else _place(self.source, found.place)
        name = _STATE if self.source == _STATE else found.name
        dictionary = self.source.rpartition(".")[2]
        if dictionary in MODULE_DICTS:
            name = f"{name}.{dictionary}"
        return Guard(self.kind, place, self.source, name, round(share, 10), self.text)


def _place(source: str, place: ChangePlace) -> ChangePlace:
    """Return the place of a value; a function of an imported module counts as a global."""
    is_of_module = "._modules" in source
    return (
        "global" if place == "attribute" and source.startswith("G[") and not is_of_module else place
    )


def _leaves(
    root: Any, evaluate: Callable[[str], Any], values: Mapping[str, Any]
) -> Iterator[_Leaf]:
    for guard in root.get_leaf_guards():
        yield _leaf(guard, _STATE, lambda: values)
    for child in child_managers(root):
        yield from _leaves_below(child, evaluate)
    if hasattr(root, "get_epilogue_lambda_guards"):
        for guard in root.get_epilogue_lambda_guards():
            yield _leaf(guard, _source_in(_text(guard)), lambda: values, "SHAPE_ENV")


def _leaves_below(manager: Any, evaluate: Callable[[str], Any]) -> Iterator[_Leaf]:
    for guard in manager.get_leaf_guards():
        yield _leaf(guard, manager.get_source(), lambda: evaluate(manager.get_source()))
    for child in child_managers(manager):
        yield from _leaves_below(child, evaluate)


def _leaf(guard: Any, source: str, value: Callable[[], Any], kind: str = "") -> _Leaf:
    name = type(guard).__name__
    try:
        # A relational guard remembers its calls: calling it alone would make the next check fail.
        seconds = None if name in RELATIONAL else _time_guard(guard, value())
    except Exception:
        seconds = None
    return _Leaf(kind or name, source, _text(guard), seconds)


def _text(guard: Any) -> str:
    parts = guard.verbose_code_parts()
    return without_comment(parts[0])[:_LONGEST_TEXT] if parts else ""


def _source_in(text: str) -> str:
    """Return the first value that a condition on shapes names; the condition if it names none."""
    match = _VALUE.search(text)
    return match[0] if match else text


def _shares(calls: list[float | None], total: float | None) -> list[float]:
    """Return the share of each guard: its own time, and an equal part of what is left."""
    if not calls or total is None:
        return [0.0] * len(calls)
    overhead = min((call for call in calls if call is not None), default=0.0)
    own = [0.0 if call is None else call - overhead for call in calls]
    spent = sum(own)
    if spent > total:
        return [total * seconds / spent for seconds in own]
    rest = (total - spent) / len(calls)
    return [seconds + rest for seconds in own]


def _time_guard(guard: Any, value: Any) -> float:
    """Return the shortest seconds of one call from Python."""
    best = float("inf")
    for _ in range(_GUARD_BATCHES):
        best = min(best, _time_batch(guard, value, _GUARD_CALLS))
    return best


def _time_calls(function: Callable[[Any], object], argument: Any) -> float:
    """Return the median seconds of one call, in batches that are long enough to be timed."""
    once = _time_batch(function, argument, 10)
    number = max(1, min(1000, int(_BATCH_SECONDS / max(once, 1e-9))))
    return median(_time_batch(function, argument, number) for _ in range(_BATCHES))


def _time_batch(function: Callable[[Any], object], argument: Any, number: int) -> float:
    started = time.perf_counter()
    for _ in range(number):
        function(argument)
    return (time.perf_counter() - started) / number

"""How long a call takes under several plans, which take turns in one process.

Each plan has code objects of its own, because Dynamo keeps compiled code, limits and skipped frames
by code object: the plans share neither a cache nor a limit.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from itertools import count
from types import CodeType, FunctionType
from typing import Any

import torch

from fullgraph.capture.api import Watch
from fullgraph.fix.model import FixPlan, TrialRequest, TrialResult, VariantTimes
from fullgraph.fix.record.recorder import RecordedCall
from fullgraph.fix.runtime.activate import plan_active
from fullgraph.fix.runtime.hot_patch import codes_with_edits, copies_of_code, patch_functions
from fullgraph.fix.trials.compiled import compile_target
from fullgraph.fix.trials.samples import Sample
from fullgraph.fix.trials.timing import seconds_of
from fullgraph.model.events import Compile
from fullgraph.model.owners import TORCH, Owners, folders_of_this_process

_WARM_UP_ROUNDS = 3
_MOST_ROUNDS = 40
# The part of the time of the request after which no further round starts.
_TIME_PART = 0.7
# So many seconds are left for steady calls in any case.
_LEAST_SECONDS = 5.0


class _Variant:
    """One plan with its own code, compiled functions and times."""

    def __init__(self, request: TrialRequest, plan: FixPlan, files: Sequence[str]) -> None:
        self._plan = plan
        self._codes: dict[FunctionType, CodeType] = dict(copies_of_code(files))
        for file in plan.files.values():
            self._codes.update(codes_with_edits(file))
        self._backend = request.backend
        self._functions: dict[int, Callable[..., Any]] = {}
        self.first = 0.0
        self.steady: list[float | None] = []

    def run(self, calls: Sequence[RecordedCall]) -> tuple[float, bool]:
        """Return the seconds of all calls, and whether nothing was compiled."""
        for function, code in self._codes.items():
            function.__code__ = code
        with plan_active(self._plan), Watch() as watch:
            seconds = sum(seconds_of(call, self._compiled(call)) for call in calls)
        compiled = any(isinstance(event, Compile) for event in watch.session().events)
        return seconds / len(calls), not compiled

    def _compiled(self, call: RecordedCall) -> Callable[..., Any]:
        key = id(call.target)
        if key not in self._functions:
            self._functions[key] = compile_target(call.target, self._backend)
        return self._functions[key]


def time_variants(request: TrialRequest, samples: list[Sample]) -> TrialResult:
    """Return the times of a mean recorded call under each plan of a request."""
    end = time.monotonic() + request.seconds * _TIME_PART
    calls = [sample.call for sample in samples if sample.recorded]
    files = _compiled_files(request, calls)
    # What the fixes add to modules stays there; only the code of functions changes.
    restore_code = {function: code for path in files for function, code in _codes_of(path)}
    patch_functions(request.plan.files.values())
    for function, code in restore_code.items():
        function.__code__ = code
    variants = [_Variant(request, plan, files) for plan in request.variants]
    for variant in variants:
        variant.first, _ = variant.run(calls)
    # Compiling may have taken all of the time.
    end = max(end, time.monotonic() + _LEAST_SECONDS)
    end = min(end, time.monotonic() + request.steady_seconds)
    for number in count():
        # Another one starts in each round, so that none is always the first.
        start = number % len(variants)
        for variant in (*variants[start:], *variants[:start]):
            seconds, is_steady = variant.run(calls)
            if number >= _WARM_UP_ROUNDS:
                variant.steady.append(seconds if is_steady else None)
        if number >= _WARM_UP_ROUNDS + _MOST_ROUNDS or time.monotonic() > end:
            break
    times = tuple(VariantTimes(each.first, tuple(each.steady)) for each in variants)
    return TrialResult(request.number, None, variants=times)


def _codes_of(path: str) -> list[tuple[FunctionType, CodeType]]:
    return [(function, function.__code__) for function, _ in copies_of_code([path])]


def _compiled_files(request: TrialRequest, calls: Sequence[RecordedCall]) -> list[str]:
    """Return the files whose functions the original program compiles, without torch's own."""
    torch._dynamo.reset()
    with Watch() as watch:
        for call in calls:
            seconds_of(call, compile_target(call.target, "eager"))
    torch._dynamo.reset()
    owners = Owners([folders_of_this_process()])
    events = watch.session().events
    compiled = [event.code.file for event in events if isinstance(event, Compile)]
    files = dict.fromkeys([*compiled, *request.plan.files])
    return [file for file in files if owners.owner_of(file) != TORCH]

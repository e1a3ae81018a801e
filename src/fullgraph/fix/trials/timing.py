"""How long a steady call takes under a plan."""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import count
from typing import Any

import torch

from fullgraph.fix.model import TrialRequest, TrialResult
from fullgraph.fix.record.recorder import RecordedCall, clone_inputs
from fullgraph.fix.runtime.activate import plan_active
from fullgraph.fix.trials.compiled import compile_target
from fullgraph.fix.trials.samples import Sample, call_restored

# Timing ends after this many rounds, once there were steady calls for so many seconds, but not
# later than after so many seconds in all.
_STEADY_ROUNDS = 8
_STEADY_SECONDS = 0.5
_MOST_SECONDS = 15.0


def time_calls(request: TrialRequest, samples: list[Sample]) -> TrialResult:
    """Return the shortest round; a round is all recorded calls, one after another."""
    torch._dynamo.reset()
    calls = [sample.call for sample in samples if sample.recorded]
    functions = {id(call.target): compile_target(call.target, request.backend) for call in calls}
    best = float("inf")
    end = time.monotonic() + _MOST_SECONDS
    steady_end = end
    with plan_active(request.plan):
        for done in count(1):
            spent = sum(seconds_of(call, functions[id(call.target)]) for call in calls)
            best = min(best, spent)
            now = time.monotonic()
            if done == _STEADY_ROUNDS // 2:
                # The rounds up to here compile.
                steady_end = min(end, now + _STEADY_SECONDS)
            if done >= _STEADY_ROUNDS and now > steady_end:
                break
    return TrialResult(request.number, None, seconds=best)


def seconds_of(call: RecordedCall, function: Callable[..., Any]) -> float:
    """Return how long a recorded call takes, with inputs and state of its own."""
    args, kwargs = clone_inputs((call.args, call.kwargs), call.target.state)
    with call_restored(call), call.context.restored():
        started = time.perf_counter()
        function(*args, **kwargs)
        return time.perf_counter() - started

"""Run a recorded call and observe it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fullgraph.fix.record.recorder import CompiledTarget, RecordedCall, clone_inputs
from fullgraph.outcomes.observe import CallOutcome, observe_call


def run_call(
    call: RecordedCall, function: Callable[..., Any], target: CompiledTarget
) -> CallOutcome:
    """Call `function` with copies of the recorded inputs and return what the call did."""
    args, kwargs = clone_inputs((call.args, call.kwargs))
    return observe_call(function, args, kwargs, context=call.context, module=target.module)

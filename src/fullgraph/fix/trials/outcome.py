"""Run a recorded call and observe it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch.utils import _pytree as pytree

from fullgraph.fix.record.recorder import CompiledTarget, RecordedCall, clone_inputs
from fullgraph.outcomes.observe import CallOutcome, observe_call

# Makes another function of the one that a call calls, such as one that calls it twice.
Around = Callable[[Callable[..., Any]], Callable[..., Any]]


def run_call(
    call: RecordedCall,
    function: Callable[..., Any],
    target: CompiledTarget,
    computed: int | None = None,
    around: Around | None = None,
) -> CallOutcome:
    """Call `function` with copies of the recorded inputs and return what the call did.

    `computed` is the index of a tensor that is not a leaf: it is the result of an operator.
    """
    named = target.named
    args, kwargs = clone_inputs((call.args, call.kwargs), target.state)
    if computed is not None:
        leaves, spec = pytree.tree_flatten((args, kwargs))
        # The gradient of exp needs its result, so writing to it is an error in backward.
        leaves[computed] = leaves[computed].exp()
        args, kwargs = pytree.tree_unflatten(leaves, spec)
    if around is not None:
        function = around(function)
    outcome = observe_call(
        function, args, kwargs, context=call.context, module=target.state, named=named.tensors()
    )
    outcome.state |= named.leaves()
    return outcome

"""Probes of what follows a call: nothing, a second call, and a write to each result."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch

from fullgraph.fix.record.recorder import RecordedCall
from fullgraph.fix.trials.probes._probe import Probe, with_context, with_gradients
from fullgraph.fix.trials.probes.values import ALL_REQUIRE_GRADIENTS
from fullgraph.outcomes.observe import tensors_in

IS_METADATA = False
_AS_IT_IS = "the recorded call"


def probes(call: RecordedCall) -> Iterator[Probe]:
    """Yield the call as it is, two calls before one backward pass, and a write to the results."""
    yield Probe(_AS_IT_IS, "the call is another one", call, compiled=True)
    twice = "two calls before one backward pass"
    assumption = "each call is followed by its own backward pass before the next one"
    in_training = with_gradients(call) or with_context(call, grad=True, inference=False)
    # If one such call fails, it is not because of the second one.
    of = (_AS_IT_IS, ALL_REQUIRE_GRADIENTS)
    yield Probe(twice, assumption, in_training, compiled=True, around=_twice, combines=of)
    # Writing may make a backward pass fail, which is no concern of this probe.
    without = with_context(call, grad=False)
    written, assumption = "a write to each result", "no caller writes to the results"
    alone = (_AS_IT_IS,)
    yield Probe(written, assumption, without, compiled=True, around=_with_writes, combines=alone)


def _twice(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs), function(*args, **kwargs)

    return call


def _with_writes(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        result = function(*args, **kwargs)
        with torch.no_grad():
            for number, tensor in enumerate(list(tensors_in(result)), 1):
                _write(tensor, number)
        return result

    return call


def _write(tensor: torch.Tensor, number: int) -> None:
    if tensor.dtype == torch.bool:
        tensor.logical_not_()
    else:
        tensor.add_(number)

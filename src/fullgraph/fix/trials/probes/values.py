"""Probes of the values in tensors: NaN, infinity, zeros, large numbers, one True or none."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from fullgraph.fix.record.recorder import RecordedCall
from fullgraph.fix.trials.probes._probe import (
    Probe,
    TensorChange,
    probe_each,
    tensors_of,
    with_gradients,
)

IS_METADATA = False
ALL_REQUIRE_GRADIENTS = "all tensors require gradients"
NO_GRADIENTS = "the arguments require no gradients"
_INFINITE = "`{name}` has no infinite numbers, and no number overflows"


def probes(call: RecordedCall) -> Iterator[Probe]:
    """Yield calls in which one tensor has other values."""
    floats = [each for each in tensors_of(call) if each.is_float and each.value.numel()]
    for what, assumption, change in (
        ("`{name}` has a NaN", "`{name}` has no NaN", _with_first(float("nan"))),
        ("`{name}` has an infinite number", _INFINITE, _with_first(float("inf"))),
        ("`{name}` has a negative infinite number", _INFINITE, _with_first(float("-inf"))),
        ("`{name}` is all zero", "`{name}` is not all zero", torch.zeros_like),
        ("`{name}` is all NaN", "`{name}` has no NaN", _filled(float("nan"))),
        ("`{name}` is all infinite", _INFINITE, _filled(float("inf"))),
        ("`{name}` is all negative infinite", _INFINITE, _filled(float("-inf"))),
        ("`{name}` has the largest numbers", "no number overflows", _largest),
        ("`{name}` has a zero", "`{name}` has no zeros", _with_first(0.0)),
    ):
        yield from probe_each(call, floats, what, assumption, change, compiled=True, gradients=True)
    for what, change in (
        ("`{name}` is all one", torch.ones_like),
        ("`{name}` is large", lambda tensor: (tensor.abs() + 1) * 1e6),
        ("`{name}` is large and negative", lambda tensor: (tensor.abs() + 1) * -1e6),
        ("`{name}` is small", lambda tensor: tensor * 1e-6),
    ):
        assumption = "the numbers in `{name}` are like those of the recorded calls"
        yield from probe_each(call, floats, what, assumption, change, gradients=True)
    in_training = with_gradients(call)
    if in_training is not None:
        yield Probe(ALL_REQUIRE_GRADIENTS, NO_GRADIENTS, in_training, compiled=True)
    yield from _integers(call)


def _integers(call: RecordedCall) -> Iterator[Probe]:
    integers = [each for each in tensors_of(call) if each.is_integer and each.value.numel()]
    for what, assumption, change in (
        ("`{name}` is all zero or False", "`{name}` is not all zero", torch.zeros_like),
        ("`{name}` is all one or True", "`{name}` is not all one", torch.ones_like),
        ("only one of `{name}` is not zero", "`{name}` has several numbers", _only_one),
        ("`{name}` has a zero or False", "`{name}` has no zeros", _with_first(0)),
        ("`{name}` has a negative number", "`{name}` has no negative numbers", _negative),
    ):
        yield from probe_each(call, integers, what, assumption, change, compiled=True)


def _with_first(value: float) -> TensorChange:
    def change(tensor: torch.Tensor) -> torch.Tensor:
        new = tensor.detach().clone()
        new.reshape(-1)[0].fill_(value) if new.is_contiguous() else new.fill_(value)
        return new

    return change


def _largest(tensor: torch.Tensor) -> torch.Tensor:
    return torch.full_like(tensor, torch.finfo(tensor.dtype).max * 0.9)


def _filled(value: float) -> TensorChange:
    return lambda tensor: torch.full_like(tensor, value)


def _only_one(tensor: torch.Tensor) -> torch.Tensor:
    new = torch.zeros_like(tensor)
    new.view(-1)[-1] = 1
    return new


def _negative(tensor: torch.Tensor) -> torch.Tensor:
    if tensor.dtype in (torch.bool, torch.uint8):
        raise ValueError("it has no negative numbers")
    new = tensor.clone()
    new.view(-1)[0] = -1
    return new

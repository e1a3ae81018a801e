"""Probes of shapes and layouts: size 0 and 1, one dimension fewer, strides, shared elements."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from fullgraph.fix.record.recorder import RecordedCall
from fullgraph.fix.trials.probes._probe import (
    Argument,
    Probe,
    TensorChange,
    like,
    probe_each,
    tensors_of,
    with_tensors,
)

IS_METADATA = True


def probes(call: RecordedCall) -> Iterator[Probe]:
    """Yield calls in which one tensor, or all, have another shape or layout."""
    tensors = [each for each in tensors_of(call) if each.value.dim()]
    yield from _sizes(call, tensors)
    for what, assumption, change in (
        ("`{name}` is transposed in memory", "`{name}` is contiguous", _transposed),
        ("`{name}` is part of a larger tensor", "`{name}` is contiguous", _strided),
        ("`{name}` is channels-last", "`{name}` is contiguous", _channels_last),
        ("`{name}` is expanded", "no elements of `{name}` share memory", _expanded),
        ("rows of `{name}` overlap", "no elements of `{name}` share memory", _overlapping),
    ):
        compiled = change in (_transposed, _expanded)
        yield from probe_each(call, tensors, what, assumption, change, compiled=compiled)


def _sizes(call: RecordedCall, tensors: list[Argument]) -> Iterator[Probe]:
    for what, assumption, change in (
        ("`{name}` is empty", "`{name}` is not empty", _rows(0)),
        ("`{name}` has size 1", "`{name}` has more than one row", _rows(1)),
        ("the last size of `{name}` is 1", "the last size of `{name}` is not 1", _last_one),
        ("the last size of `{name}` is 0", "the last size of `{name}` is not 0", _last_none),
        ("`{name}` has a dimension fewer", "`{name}` is {value.ndim}-dimensional", _first_row),
        ("`{name}` has no dimensions", "`{name}` has dimensions", _first_element),
    ):
        yield from probe_each(call, tensors, what, assumption, change, compiled=True)
    if len(tensors) < 2:
        return
    for name, assumption, change in (
        ("all tensors are empty", "the arguments are not empty", _rows(0)),
        ("all tensors have size 1", "the arguments have more than one row", _rows(1)),
        ("the last sizes of all tensors are 0", "no argument is empty", _last_none),
        ("the last sizes of all tensors are 1", "the last sizes are not 1", _last_one),
        ("all tensors have a dimension fewer", "no argument lacks a dimension", _first_row),
    ):
        changed = with_tensors(call, _kept_like(change))
        if changed is not None:
            yield Probe(name, assumption, changed, compiled=True)


def _kept_like(change: TensorChange) -> TensorChange:
    return lambda tensor: like(tensor, change(tensor))


def _rows(number: int) -> TensorChange:
    def change(tensor: torch.Tensor) -> torch.Tensor:
        if tensor.shape[0] <= number:
            raise ValueError("it has no more rows")
        return tensor.detach()[:number].clone()

    return change


def _last_one(tensor: torch.Tensor) -> torch.Tensor:
    if tensor.dim() < 2 or tensor.shape[-1] < 2:
        raise ValueError("it has no last size")
    return tensor.detach()[..., :1].clone()


def _last_none(tensor: torch.Tensor) -> torch.Tensor:
    if tensor.dim() < 2:
        raise ValueError("it has no last size")
    return tensor.detach()[..., :0].clone()


def _first_row(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.detach()[0].clone()


def _first_element(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.detach().reshape(-1)[0].clone()


def _transposed(tensor: torch.Tensor) -> torch.Tensor:
    if tensor.dim() < 2:
        raise ValueError("it has one dimension")
    return tensor.detach().transpose(-1, -2).contiguous().transpose(-1, -2)


def _strided(tensor: torch.Tensor) -> torch.Tensor:
    return torch.stack([tensor.detach(), tensor.detach()], dim=-1)[..., 0]


def _channels_last(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.detach().clone().contiguous(memory_format=torch.channels_last)


def _expanded(tensor: torch.Tensor) -> torch.Tensor:
    if tensor.shape[0] < 2:
        raise ValueError("it has one row")
    return tensor.detach()[:1].clone().expand_as(tensor)


def _overlapping(tensor: torch.Tensor) -> torch.Tensor:
    if tensor.dim() < 2 or tensor.shape[0] < 2 or tensor.numel() < 4:
        raise ValueError("it has too few rows")
    memory = tensor.detach().clone(memory_format=torch.contiguous_format)
    return memory.as_strided(memory.shape, (1, *memory.stride()[1:]))

"""Probes of memory that two arguments share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations

import torch

from fullgraph.fix.record.recorder import RecordedCall
from fullgraph.fix.trials.probes._probe import Argument, Probe, tensors_of, with_values

IS_METADATA = True
_Pair = tuple[torch.Tensor, torch.Tensor]


def probes(call: RecordedCall) -> Iterator[Probe]:
    """Yield calls in which tensors of the same shape and dtype share memory."""
    for one, other in combinations(tensors_of(call), 2):
        if alike(one.value, other.value):
            yield from _shared(call, one, other)


def alike(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Return whether two tensors have the same shape, dtype and device."""
    return (one.shape, one.dtype, one.device) == (other.shape, other.dtype, other.device)


def _shared(call: RecordedCall, one: Argument, other: Argument) -> Iterator[Probe]:
    names = f"`{one.name}` and `{other.name}`"
    assumption = f"{names} share no memory"
    for what, make in (
        ("are one tensor", _same),
        ("are views of the same memory", _views),
        ("overlap in memory", _overlapping),
    ):
        pair = _made(make, one.value)
        if pair is not None:
            changed = with_values(call, {one.index: pair[0], other.index: pair[1]})
            yield Probe(f"{names} {what}", assumption, changed)


def _made(make: Callable[[torch.Tensor], _Pair], tensor: torch.Tensor) -> _Pair | None:
    if tensor.requires_grad and make is not _same:
        # Views of a leaf are no leaves.
        tensor = tensor.detach()
    return make(tensor) if tensor.numel() else None


def _same(tensor: torch.Tensor) -> _Pair:
    same = tensor.detach().clone().requires_grad_(tensor.requires_grad)
    return same, same


def _views(tensor: torch.Tensor) -> _Pair:
    memory = tensor.clone(memory_format=torch.contiguous_format)
    return memory, memory.view(tensor.shape)


def _overlapping(tensor: torch.Tensor) -> _Pair:
    flat = tensor.reshape(-1)
    memory = torch.cat([flat, flat[:1]])
    return memory[:-1].view(tensor.shape), memory[1:].view(tensor.shape)

"""Varied inputs: other values of the same shapes and types as the recorded ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.utils import _pytree as pytree

from fullgraph.fix.record.recorder import RecordedCall, clone_inputs

_Change = Callable[[torch.Tensor, torch.Generator], torch.Tensor]


def variations(call: RecordedCall) -> Iterator[tuple[str, RecordedCall]]:
    """Yield calls with other inputs, each with a name; the program may raise for some of them."""
    for name, change in _CHANGES.items():
        changed = _changed(call, change)
        if changed is not None:
            yield name, changed
    smaller = _fewer_rows(call)
    if smaller is not None:
        yield "half a batch", smaller


def _changed(call: RecordedCall, change: _Change) -> RecordedCall | None:
    generator = torch.Generator().manual_seed(20)
    any_change = False

    def leaf(value: Any) -> Any:
        nonlocal any_change
        if not isinstance(value, torch.Tensor) or value.numel() == 0:
            return value
        with torch.no_grad():
            new = change(value, generator)
            if new is value or torch.equal(new, value):
                return value
            any_change = True
            # In place, so that tensors which share memory still do.
            value.copy_(new)
        return value

    inputs = clone_inputs((call.args, call.kwargs))
    with torch.no_grad():
        args, kwargs = pytree.tree_map(leaf, inputs)
    return RecordedCall(call.target, args, kwargs, call.context) if any_change else None


def _other_floats(value: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    if not value.dtype.is_floating_point:
        return value
    values = value.float()
    spread = float(values.std(correction=0)) or 1.0
    noise = torch.randn(value.shape, generator=generator).to(value.device)
    return (noise * spread + values.mean()).to(value.dtype)


def _negated(value: torch.Tensor, _: torch.Generator) -> torch.Tensor:
    return -value if value.dtype.is_floating_point else value


def _shuffled(value: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """Shuffle integers: the values stay the same, and therefore in range."""
    if value.dtype.is_floating_point or value.dtype.is_complex:
        return value
    order = torch.randperm(value.numel(), generator=generator)
    return value.reshape(-1)[order].reshape(value.shape)


def _one_value(value: torch.Tensor, _: torch.Generator) -> torch.Tensor:
    """Make all integers equal: masks become full or empty, ids repeat."""
    if value.dtype.is_floating_point or value.dtype.is_complex:
        return value
    return torch.full_like(value, value.reshape(-1)[-1].item())


def _one_less(value: torch.Tensor, _: torch.Generator) -> torch.Tensor:
    """Decrease integers by one, but not below zero: they mostly stay in range."""
    if value.dtype.is_floating_point or value.dtype.is_complex or value.dtype == torch.bool:
        return value
    return torch.where(value > 0, value - 1, value)


def _one_more(value: torch.Tensor, _: torch.Generator) -> torch.Tensor:
    """Increase the first integer by one; invert the first boolean."""
    if value.dtype.is_floating_point or value.dtype.is_complex:
        return value
    flat = value.reshape(-1).clone()
    flat[0] = ~flat[0] if value.dtype == torch.bool else flat[0] + 1
    return flat.reshape(value.shape)


_CHANGES: dict[str, _Change] = {
    "other numbers": _other_floats,
    "negated": _negated,
    "integers shuffled": _shuffled,
    "integers all equal": _one_value,
    "integers one less": _one_less,
    "the first integer one more": _one_more,
}


def _fewer_rows(call: RecordedCall) -> RecordedCall | None:
    """Return the call with half of the batch; None if the tensors differ in their first size."""
    leaves = [
        leaf
        for leaf in pytree.tree_leaves((call.args, call.kwargs))
        if isinstance(leaf, torch.Tensor) and leaf.dim()
    ]
    sizes = {leaf.shape[0] for leaf in leaves}
    if len(sizes) != 1 or (size := sizes.pop()) < 2:
        return None
    inputs = clone_inputs((call.args, call.kwargs))
    args, kwargs = pytree.tree_map(
        lambda leaf: (
            leaf[: size // 2].detach().clone().requires_grad_(leaf.requires_grad)
            if isinstance(leaf, torch.Tensor) and leaf.dim()
            else leaf
        ),
        inputs,
    )
    return RecordedCall(call.target, args, kwargs, call.context)

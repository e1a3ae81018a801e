"""The signature of a call: what the assumptions about metadata are about.

Fixes that assume something of the arguments are in effect only for calls whose signature was
recorded.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.utils import _pytree as pytree


def signature_of(args: tuple[Any, ...], kwargs: dict[str, Any], function: Any) -> tuple[Any, ...]:
    """Return the modes of this moment and the metadata of each argument.

    `function` is what is compiled: the mode of a module is part of the signature.
    """
    leaves, _ = pytree.tree_flatten((args, kwargs))
    owner = getattr(function, "__self__", function)
    return (
        torch.is_grad_enabled(),
        torch.is_inference_mode_enabled(),
        torch.is_autocast_enabled("cpu"),
        torch.get_default_dtype(),
        owner.training if isinstance(owner, torch.nn.Module) else None,
        _shared_memory(leaves),
        *map(_of_leaf, leaves),
    )


def _shared_memory(leaves: list[Any]) -> tuple[int, ...]:
    """Return, for each tensor, the number of the first one that has the same memory."""
    first: dict[int, int] = {}
    found = []
    for number, leaf in enumerate(leaves):
        if isinstance(leaf, torch.Tensor):
            try:
                address = leaf.untyped_storage().data_ptr()
            except (NotImplementedError, RuntimeError):
                address = 0
            found.append(first.setdefault(address, number) if address else number)
    return tuple(found)


def _of_leaf(leaf: Any) -> Any:
    if isinstance(leaf, torch.Tensor):
        # Whether a size is 0, 1 or larger.
        sizes = tuple(min(size, 2) for size in leaf.shape) if not leaf.is_nested else None
        strided = leaf.layout == torch.strided and not leaf.is_nested
        contiguous = leaf.is_contiguous() if strided else None
        return (leaf.dtype, sizes, contiguous, leaf.requires_grad)
    if isinstance(leaf, bool | int | float | str):
        return (type(leaf).__name__, leaf)
    return type(leaf).__name__

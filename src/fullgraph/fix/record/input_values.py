"""The values of small integer tensors that a program passes to its compiled functions.

Only some calls are kept, but a value guard compiles for each new value in all of them. So the
values of the others are kept, without the rest of these calls.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from torch.utils import _pytree as pytree

from fullgraph.fix.record.recorder import RecordedCall, clone_inputs, kind_of_inputs

# Value guards compile for these, and what they compile for is small.
_LARGEST = 4096
# Of the calls of one function with the same shapes.
_MOST = 12
# From the index of an argument's leaf to its value.
Values = dict[int, torch.Tensor]


class InputValues:
    """Different values that calls of the same function, with inputs of the same shapes, got."""

    def __init__(self, found: dict[str, list[Values]] | None = None) -> None:
        self._found = found or {}
        self._seen: dict[str, set[bytes]] = {}

    def note(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Note the values of a call of the function with a name."""
        values = {
            index: leaf
            for index, leaf in enumerate(pytree.tree_leaves((args, kwargs)))
            if _is_small_integer(leaf)
        }
        if not values:
            return
        key = _key(name, args, kwargs)
        found, seen = self._found.setdefault(key, []), self._seen.setdefault(key, set())
        if len(found) >= _MOST:
            return
        digest = hashlib.blake2b(digest_size=8)
        for value in values.values():
            digest.update(value.detach().contiguous().view(-1).numpy().tobytes())
        if digest.digest() not in seen:
            seen.add(digest.digest())
            found.append({index: value.detach().clone() for index, value in values.items()})

    def changed(self, call: RecordedCall) -> Iterator[RecordedCall]:
        """Yield a call with the values of each other call like it."""
        for values in self._found.get(_key(call.target.name, call.args, call.kwargs), ()):
            leaves, spec = pytree.tree_flatten(clone_inputs((call.args, call.kwargs)))
            for index, value in values.items():
                leaves[index] = value.clone()
            args, kwargs = pytree.tree_unflatten(leaves, spec)
            yield RecordedCall(call.target, args, kwargs, call.context, call.training)

    def save(self, folder: Path) -> None:
        """Write the values for the trials of a program."""
        torch.save(self._found, _file(folder))

    @classmethod
    def load(cls, folder: Path) -> InputValues:
        """Return the values of a program; none if they were not written."""
        file = _file(folder)
        return cls(torch.load(file, weights_only=True) if file.exists() else None)


def _is_small_integer(leaf: Any) -> bool:
    return (
        type(leaf) is torch.Tensor
        and leaf.layout == torch.strided
        and leaf.device.type == "cpu"
        and not (leaf.dtype.is_floating_point or leaf.dtype.is_complex)
        and 0 < leaf.numel() <= _LARGEST
    )


def _key(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    return f"{name} {kind_of_inputs(args, kwargs, numbers=False)}"


def _file(folder: Path) -> Path:
    return folder / "input_values.pt"

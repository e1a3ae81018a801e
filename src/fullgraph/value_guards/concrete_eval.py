"""Runs operations on real tensors while a frame is traced, without side effects on the program."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes

# A result may be larger than the inputs, for example an outer product or a square mask.
_MAX_GROWTH = 64


class ValueUnknown(Exception):  # noqa: N818  (not an error: Dynamo then breaks as it always does)
    """A value is not known; the message is the reason."""


@contextmanager
def concrete_mode(protected: set[StorageWeakRef]) -> Iterator[None]:
    """Run operators on real tensors, outside of all modes, and refuse operators with side effects.

    The storages in `protected` must not be mutated. A violation raises ValueUnknown.
    """
    with (
        _disable_current_modes(),
        torch._C.DisableTorchFunction(),
        torch._C._DisableAutocast(),
        torch.no_grad(),
        _NoSideEffects(protected),
    ):
        yield


class _NoSideEffects(TorchDispatchMode):  # type: ignore[misc]
    """Checks every operator before it runs."""

    def __init__(self, protected: set[StorageWeakRef]) -> None:
        super().__init__()
        self._protected = protected

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        if torch.Tag.nondeterministic_seeded in func.tags:
            raise ValueUnknown(f"{func} draws random numbers")
        if func.namespace not in ("aten", "prims"):
            raise ValueUnknown(f"{func} is not one of torch's own operators")
        # Operators may mutate temporary tensors that they have created themselves.
        for tensor in mutated_tensors(func._schema, args, kwargs):
            if storage_of(tensor) in self._protected:
                raise ValueUnknown(f"{func} mutates a tensor that is read")
        return func(*args, **kwargs)


def evaluate(target: Any, args: Any, kwargs: Any, *, max_elements: int) -> Any:
    """Return the result of one operation; `target` is a function or the name of a tensor method.

    Raises ValueUnknown if the operation fails, or if its result does not fit into a guard.
    """
    function: Callable[..., Any] = target
    if isinstance(target, str):
        function, args = getattr(args[0], target), args[1:]
    try:
        result = function(*args, **kwargs)
    except ValueUnknown:
        raise
    except Exception as error:
        raise ValueUnknown(f"the operation fails on the real inputs: {error}") from error
    for tensor in tensors_in(result):
        if type(tensor) is not torch.Tensor or tensor.device.type != "cpu":
            raise ValueUnknown("the result is not a plain CPU tensor")
        if tensor.layout != torch.strided or tensor.dtype.is_complex:
            raise ValueUnknown("the result is sparse or complex")
        if tensor.numel() > max_elements * _MAX_GROWTH:
            raise ValueUnknown("the result is too large to compute at each call")
    return result


def tensors_in(value: Any) -> list[torch.Tensor]:
    """Return the tensors in nested tuples and lists."""
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, (tuple, list)):
        return [tensor for part in value for tensor in tensors_in(part)]
    return []


def storage_of(tensor: torch.Tensor) -> StorageWeakRef:
    """Return a key for the memory of a tensor: views of one tensor have the same key."""
    return StorageWeakRef(tensor.untyped_storage())


def mutated_tensors(schema: Any, args: Any, kwargs: dict[str, Any]) -> list[torch.Tensor]:
    """Return the arguments that an operator with this schema mutates."""
    if not schema.is_mutable:
        return []
    mutated: list[torch.Tensor] = []
    for position, argument in enumerate(schema.arguments):
        if argument.alias_info is not None and argument.alias_info.is_write:
            value = args[position] if position < len(args) else kwargs.get(argument.name)
            mutated += tensors_in(value)
    return mutated


def matches_traced(value: Any, fake: Any) -> bool:
    """Return whether a computed value has the type, size and device of the traced fake value.

    They differ if the program is traced in a mode that changes types, such as autocast.
    """
    if isinstance(fake, torch.Tensor):
        return (
            isinstance(value, torch.Tensor)
            and value.dtype == fake.dtype
            and value.device == fake.device
            and value.dim() == fake.dim()
            and all(
                not isinstance(expected, int) or size == expected
                for size, expected in zip(value.shape, fake.shape, strict=True)
            )
        )
    if isinstance(fake, (tuple, list)):
        return (
            isinstance(value, (tuple, list))
            and len(value) == len(fake)
            and all(map(matches_traced, value, fake))
        )
    return not isinstance(value, torch.Tensor)

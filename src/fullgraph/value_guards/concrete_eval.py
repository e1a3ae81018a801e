"""Running operations on real tensors while a frame is traced: without effects, or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes

# An operation may give something larger than the inputs: an outer product, a square mask.
_GROWTH = 64


class Refused(Exception):  # noqa: N818  (not an error: Dynamo then does what it always does)
    """The value is not known, and why."""


class _Warden(TorchDispatchMode):  # type: ignore[misc]
    """Looks at every operator that runs."""

    def __init__(self, kept: set[StorageWeakRef]) -> None:
        super().__init__()
        self._kept = kept

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        if torch.Tag.nondeterministic_seeded in func.tags:
            raise Refused(f"{func} is random")
        if func.namespace not in ("aten", "prims"):
            raise Refused(f"{func} is not one of torch's own operators")
        if func._schema.is_mutable:
            self._refuse_writes(func, args, kwargs)
        return func(*args, **kwargs)

    def _refuse_writes(self, func: Any, args: Any, kwargs: dict[str, Any]) -> None:
        # Operators write to what they have made themselves; that is nobody's business.
        for position, argument in enumerate(func._schema.arguments):
            if argument.alias_info is None or not argument.alias_info.is_write:
                continue
            value = args[position] if position < len(args) else kwargs.get(argument.name)
            for tensor in value if isinstance(value, (tuple, list)) else (value,):
                if isinstance(tensor, torch.Tensor) and storage_of(tensor) in self._kept:
                    raise Refused(f"{func} writes to what is read")


@contextmanager
def real_world(kept: set[StorageWeakRef]) -> Iterator[None]:
    """Real tensors, no modes of anybody's, nothing written to the storages in `kept`."""
    with (
        _disable_current_modes(),
        torch._C.DisableTorchFunction(),
        torch._C._DisableAutocast(),
        torch.no_grad(),
        _Warden(kept),
    ):
        yield


def storage_of(tensor: torch.Tensor) -> StorageWeakRef:
    return StorageWeakRef(tensor.untyped_storage())


def run(target: Any, args: Any, kwargs: Any, *, largest: int) -> Any:
    """The result of one operation."""
    call: Callable[..., Any] = target
    if isinstance(target, str):
        call, args = getattr(args[0], target), args[1:]
    try:
        result = call(*args, **kwargs)
    except Refused:
        raise
    except Exception as error:
        raise Refused(f"fails on the real inputs: {error}") from error
    for tensor in leaves(result):
        if type(tensor) is not torch.Tensor or tensor.device.type != "cpu":
            raise Refused("not a plain tensor in main memory")
        if tensor.layout != torch.strided or tensor.dtype.is_complex:
            raise Refused("not a dense tensor of real numbers")
        if tensor.numel() > largest * _GROWTH:
            raise Refused("too large to be computed again at each call")
    return result


def leaves(value: Any) -> list[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, (tuple, list)):
        return [tensor for part in value for tensor in leaves(part)]
    return []


def agrees(real: Any, fake: Any) -> bool:
    """Whether what was traced and what was computed are of one type, size and place.

    They are not if the program traced in a mode that changes types, such as autocast.
    """
    if isinstance(fake, torch.Tensor):
        return (
            isinstance(real, torch.Tensor)
            and real.dtype == fake.dtype
            and real.device == fake.device
            and real.dim() == fake.dim()
            and all(
                not isinstance(expected, int) or size == expected
                for size, expected in zip(real.shape, fake.shape, strict=True)
            )
        )
    if isinstance(fake, (tuple, list)):
        return (
            isinstance(real, (tuple, list))
            and len(real) == len(fake)
            and all(agrees(one, other) for one, other in zip(real, fake, strict=True))
        )
    return not isinstance(real, torch.Tensor)

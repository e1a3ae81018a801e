"""Probes of dtypes: of one tensor, of all floating-point tensors, and the default dtype."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import torch

from fullgraph.fix.record.recorder import RecordedCall
from fullgraph.fix.trials.probes._probe import (
    Probe,
    like,
    probe_each,
    tensors_of,
    with_context,
    with_tensors,
)

IS_METADATA = True
_FLOATS = (torch.bfloat16, torch.float16, torch.float32, torch.float64)
_OTHERS = (torch.int64, torch.int32, torch.uint8, torch.bool)
# With these, compiled code runs as well: one for each way in which dtypes are promoted.
_COMPILED = (torch.bfloat16, torch.float64, torch.bool, torch.int64)


def probes(call: RecordedCall) -> Iterator[Probe]:
    """Yield calls with other dtypes."""
    tensors = tensors_of(call)
    for dtype in (*_FLOATS, *_OTHERS):
        yield from probe_each(
            call,
            [each for each in tensors if each.value.dtype != dtype],
            f"`{{name}}` is {_short(dtype)}",
            "`{name}` is {value.dtype}",
            partial(_converted, dtype),
            compiled=dtype in _COMPILED,
        )
    present = {each.value.dtype for each in tensors if each.is_float}
    for dtype in _FLOATS if len(tensors) > 1 and len(present) == 1 else ():
        changed = with_tensors(call, partial(_float_converted, dtype))
        if changed is not None and dtype not in present:
            assumption = f"the floating-point arguments are {_short(*present)}"
            name = f"the floating-point arguments are {_short(dtype)}"
            yield Probe(name, assumption, changed, compiled=dtype in _COMPILED)
    if call.context.default_dtype == torch.float32:
        other = with_context(call, default_dtype=torch.float64)
        yield Probe("the default dtype is float64", "the default dtype is float32", other)


def _converted(dtype: torch.dtype, tensor: torch.Tensor) -> torch.Tensor:
    return tensor.to(dtype)


def _float_converted(dtype: torch.dtype, tensor: torch.Tensor) -> torch.Tensor:
    return like(tensor, tensor.to(dtype)) if tensor.dtype.is_floating_point else tensor


def _short(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")

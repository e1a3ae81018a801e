"""Changes of tensors: sizes, layout, dtype, device, mode and class."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from typing import Any

from fullgraph.capture.changes.failed_guard import FailedGuard, describe, new_change
from fullgraph.capture.changes.torch_state import torch_change
from fullgraph.capture.dynamo_hooks import dynamic_marks
from fullgraph.capture.guard_sources import FrameFacts
from fullgraph.model.events import ChangeKind, GuardChange

_TENSOR = re.compile(
    r"check_tensor\((.+?), (\S+), DispatchKeySet\((.*?)\), (\S+), device=(.*?), "
    r"requires_grad=(\w+), size=\[(.*?)\], stride=\[(.*?)\]\)"
)
MARKED = "marked dynamic, but specialized"


def tensor_changes(guard: FailedGuard, frame: FrameFacts) -> Iterator[GuardChange]:
    """Yield what is different about a tensor."""
    match = _TENSOR.match(guard.part)
    value: Any = guard.value
    if match is None:
        yield new_change(guard, frame, "other", "", describe(value))
        return
    _, class_, keys, dtype, device, requires_grad, size, stride = match.groups()
    if not isinstance(value, import_module("torch").Tensor):
        kind: ChangeKind = "none" if value is None else "type"
        yield new_change(guard, frame, kind, "a tensor", describe(value))
        return
    found = [
        change
        for change in (
            _difference(guard, frame, "dtype", dtype, str(value.dtype)),
            _device_change(guard, frame, keys, device),
            _difference(guard, frame, "requires_grad", requires_grad, str(value.requires_grad)),
        )
        if change is not None
    ]
    found += _layout_changes(guard, frame, _numbers(size), _numbers(stride))
    yield from found or [_unexplained_tensor_change(guard, frame, class_, keys)]


def _difference(
    guard: FailedGuard, frame: FrameFacts, kind: ChangeKind, before: str, now: str
) -> GuardChange | None:
    return None if before == now else new_change(guard, frame, kind, before, now)


def _device_change(
    guard: FailedGuard, frame: FrameFacts, keys: str, index: str
) -> GuardChange | None:
    """Return the change of a tensor's device; its kind is known by the first dispatch key."""
    value: Any = guard.value
    type_ = keys.split(",")[0].strip().lower()
    if not type_.isalnum() or type_ in ("python", "autocastcpu"):
        return None
    before = type_ if index == "None" else f"{type_}:{index}"
    now = str(value.device)
    if value.device.type == type_ and (value.device.index in (None, 0) or now == before):
        return None
    return new_change(guard, frame, "device", before, now)


def _layout_changes(
    guard: FailedGuard, frame: FrameFacts, size: list[str], stride: list[str]
) -> list[GuardChange]:
    value: Any = guard.value
    actual = [str(number) for number in value.shape]
    if len(size) != len(actual):
        return [new_change(guard, frame, "rank", str(len(size)), str(len(actual)))]
    marked = dynamic_marks(value)
    # None means that the guard allows any size.
    changes = [
        new_change(guard, frame, "size", before, now, dim, MARKED if dim in marked else "")
        for dim, (before, now) in enumerate(zip(size, actual, strict=True))
        if before not in ("None", now)
    ]
    strides = [str(number) for number in value.stride()]
    if not changes and any(
        before not in ("None", now) for before, now in zip(stride, strides, strict=False)
    ):
        before = ", ".join("any" if each == "None" else each for each in stride)
        changes.append(new_change(guard, frame, "stride", f"({before})", f"({', '.join(strides)})"))
    return changes


def _numbers(text: str) -> list[str]:
    return [number.strip() for number in text.split(",") if number.strip()]


def _unexplained_tensor_change(
    guard: FailedGuard, frame: FrameFacts, class_: str, keys: str
) -> GuardChange:
    """Return the change of a tensor whose other properties are as before: its mode or class."""
    torch = import_module("torch")
    value: Any = guard.value
    is_inference = torch.is_inference_mode_enabled()
    if is_inference and "Autograd" in keys:
        return torch_change("inference_mode", "inference mode", "False", "True", guard.part)
    if not is_inference and "Autograd" not in keys and not value.is_inference():
        return torch_change("inference_mode", "inference mode", "True", "False", guard.part)
    if value.is_inference() and "ADInplaceOrView" in keys:
        return new_change(
            guard, frame, "inference_mode", "an ordinary tensor", "an inference tensor"
        )
    if not value.is_inference() and "ADInplaceOrView" not in keys:
        return new_change(
            guard, frame, "inference_mode", "an inference tensor", "an ordinary tensor"
        )
    now = type(value).__name__
    if class_ != now:
        return new_change(guard, frame, "type", class_, now)
    return new_change(guard, frame, "other", "", "")


def describe_marks(value: Any) -> str:
    """Return the dimensions of a tensor that are marked as dynamic, as text."""
    marks = sorted(dynamic_marks(value))
    return f"dynamic: {', '.join(map(str, marks))}" if marks else "marked"

"""Changes of the state of torch: modes, settings and the backend."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import msgspec

from fullgraph.capture.changes.failed_guard import FailedGuard
from fullgraph.capture.dynamo_hooks import current_global_state
from fullgraph.capture.guard_lines import without_comment
from fullgraph.model.events import ChangeKind, GuardChange

_GLOBAL_STATE = re.compile(r"against (\{.*\})")
MODES = "modes of torch functions"
_BACKEND_REASON = "BACKEND_MATCH failure"
# torch's numbers of the types of tensors.
_DTYPES = {5: "torch.float16", 6: "torch.float32", 7: "torch.float64", 15: "torch.bfloat16"}
_STATE_KINDS: dict[str, ChangeKind] = {
    "grad_mode": "grad_mode",
    "num_threads": "num_threads",
    "default_dtype": "default_dtype",
    "deterministic_algorithms": "deterministic",
    "deterministic_algorithms_warn_only": "deterministic",
}
_STATE_NAMES: dict[str, str] = {
    "grad_mode": "grad mode",
    "num_threads": "number of threads",
    "default_dtype": "default dtype",
    "deterministic_algorithms": "deterministic algorithms",
    "deterministic_algorithms_warn_only": "deterministic algorithms (warn only)",
    "allow_tf32": "allow_tf32",
    "allow_fp16_reduce": "reduced precision for float16",
    "allow_bf16_reduce": "reduced precision for bfloat16",
    "torch_function": "__torch_function__",
    "torch_function_all_disabled": "__torch_function__",
}


def state_changes(guard: FailedGuard) -> Iterator[GuardChange]:
    """Yield the parts of the guarded state of torch that changed."""
    match = _GLOBAL_STATE.search(guard.part)
    before = msgspec.json.decode(match[1]) if match else {}
    now = current_global_state()
    for key, old in before.items():
        new = now.get(key)
        if new is None or old == new:
            continue
        if key == "autocast_state":
            yield from _autocast_changes(old, new, guard.part)
        else:
            yield _state_change(key, _state_value(key, old), _state_value(key, new), guard.part)


def named_state_change(key: str, reason: str) -> GuardChange:
    """Return the change of a part of torch's state of which only the name is known."""
    state = current_global_state()
    now = state.get(key)
    if key.startswith("autocast") and "autocast_state" in state:
        now = any(state["autocast_state"].get("enabled", ()))
    before = str(not now) if isinstance(now, bool) else ""
    return _state_change(key, before, "" if now is None else _state_value(key, now), reason)


def _state_change(key: str, before: str, now: str, part: str) -> GuardChange:
    """Return the change of one part of the state of torch."""
    kind: ChangeKind = "autocast" if key.startswith("autocast") else _STATE_KINDS.get(key, "other")
    return torch_change(kind, _STATE_NAMES.get(key, key.replace("_", " ")), before, now, part)


def _state_value(key: str, value: object) -> str:
    if key == "default_dtype" and isinstance(value, int):
        return _DTYPES.get(value, f"dtype {value}")
    return str(value)


def _autocast_changes(
    before: dict[str, Any], now: dict[str, Any], part: str
) -> Iterator[GuardChange]:
    if before.get("enabled") != now.get("enabled"):
        first, second = any(before.get("enabled", ())), any(now.get("enabled", ()))
        if first == second:
            yield torch_change("autocast", "autocast", "one device", "another device", part)
        else:
            yield torch_change("autocast", "autocast", str(first), str(second), part)
    elif before.get("dtype") != now.get("dtype"):
        pairs = zip(before.get("dtype", ()), now.get("dtype", ()), strict=False)
        first, second = next((a, b) for a, b in pairs if a != b)
        old, new = (_state_value("default_dtype", each) for each in (first, second))
        yield torch_change("autocast", "autocast dtype", old, new, part)
    else:
        old, new = (str(state.get("cached_enabled")) for state in (before, now))
        yield torch_change("autocast", "autocast cache", old, new, part)


def torch_change(kind: ChangeKind, name: str, before: str, now: str, part: str) -> GuardChange:
    """Return a change of torch itself, which no variable of the program holds."""
    return GuardChange(kind, "torch", "", name, before, now, guard=without_comment(part))


def default_device_change(guard: FailedGuard) -> GuardChange:
    """Return the change of the default device."""
    now = str(import_module("torch").get_default_device())
    _, separator, constant = without_comment(guard.part).rpartition(" == ")
    before = "cpu" if constant == "None" else constant if separator else "another device"
    return torch_change("device", "default device", before, now, guard.part)


def mode_stack_change(guard: FailedGuard) -> GuardChange:
    """Return the change of the modes that are entered, such as a `TorchFunctionMode`."""
    return torch_change("other", MODES, "other modes", "", guard.part)


def backend_changes(before: Any, now: Any) -> tuple[GuardChange, ...]:
    """Return the change of the backend; nothing if both are one."""
    if before is None or before == now:
        return ()
    first, second = _describe_backend(before), _describe_backend(now)
    again = first == second
    change = GuardChange(
        kind="backend",
        place="torch",
        source="",
        name="backend",
        before=first,
        now=f"another {second}" if again else second,
        guard=_BACKEND_REASON,
        note="the backend is created again" if again else "",
    )
    return (change,)


def _describe_backend(backend: Any) -> str:
    inner = getattr(backend, "compiler_fn", None) or getattr(backend, "compiler_name", None)
    shown = inner if inner is not None else backend
    name = shown if isinstance(shown, str) else getattr(shown, "__name__", type(shown).__name__)
    dynamic = getattr(backend, "dynamic", None)
    return f"{name}, dynamic={dynamic}" if dynamic is not None else str(name)

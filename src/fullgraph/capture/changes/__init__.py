"""Turn guards that failed into changes: what about a value is different, from what to what.

failed_guard.py   a guard that failed, and values as text
tensors.py        sizes, layout, dtype, device, mode and class of tensors
aliases.py        objects that became one, or are no longer one
python_values.py  constants, types, identities, lengths and keys
conditions.py     conditions on sizes and numbers
torch_state.py    modes and settings of torch, and the backend
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from fullgraph.capture.changes.aliases import new_aliases
from fullgraph.capture.changes.conditions import condition_change
from fullgraph.capture.changes.failed_guard import FailedGuard, new_change, shortened
from fullgraph.capture.changes.python_values import (
    changes_of_dict_length,
    identity_change,
    key_change,
    length_change,
    type_change,
    value_change,
)
from fullgraph.capture.changes.tensors import MARKED, describe_marks, tensor_changes
from fullgraph.capture.changes.torch_state import (
    MODES,
    backend_changes,
    default_device_change,
    mode_stack_change,
    named_state_change,
    state_changes,
)
from fullgraph.capture.guard_sources import FrameFacts, position
from fullgraph.model.events import GuardChange

__all__ = ["FailedGuard", "backend_changes", "changes_of_entry"]

_TORCH_STATE_REASON = re.compile(r"^GLOBAL_STATE changed: (.+?)\s*$")
_DICT_LENGTH = re.compile(r"^len\((.+)\) != (\d+)$")
_CONTAINERS = frozenset({"type", "none", "length", "keys", "identity"})
# Guards that compare a value with a constant, or with its type.
_VALUE_GUARDS = frozenset(
    {"EQUALS_MATCH", "TRUE_MATCH", "FALSE_MATCH", "NONE_MATCH", "NOT_NONE", "FLOAT_IS_NAN"}
)
_KEY_GUARDS = frozenset({"DICT_CONTAINS", "SET_CONTAINS", "MAPPING_KEYS_MATCH"})
_LENGTH_GUARDS = frozenset({"LENGTH_CHECK", "DICT_LENGTH", "TUPLE_ITERATOR_LEN"})


def changes_of_entry(
    guards: Iterable[FailedGuard], reason: str, frame: FrameFacts
) -> tuple[GuardChange, ...]:
    """Return what changed since one piece of code was compiled, without mere consequences.

    `reason` is torch's sentence. It names what no single guard has: the length of a dictionary, and
    in older releases the state of torch.
    """
    found = [change for guard in guards for change in _changes(guard, frame)]
    found += _changes_of_reason(reason, frame)
    if not any(change.place == "torch" for change in found):
        found += _state_changes_of_reason(reason)
    distinct = sorted(dict.fromkeys(found), key=lambda change: position(change.source, frame))
    return tuple(_without_consequences(_merged_keys(distinct)))


def _changes_of_reason(reason: str, frame: FrameFacts) -> Iterator[GuardChange]:
    match = _DICT_LENGTH.match(reason)
    if match is not None:
        yield from changes_of_dict_length(match[1], match[2], reason, frame)


def _state_changes_of_reason(reason: str) -> Iterator[GuardChange]:
    """Yield the changes of torch's state that torch names, in releases whose guards do not."""
    match = _TORCH_STATE_REASON.match(reason)
    for key in match[1].split() if match is not None else ():
        yield named_state_change(key, reason)


def _changes(guard: FailedGuard, frame: FrameFacts) -> Iterator[GuardChange]:
    if guard.type == "TENSOR_MATCH":
        yield from tensor_changes(guard, frame)
    elif guard.type == "GLOBAL_STATE":
        yield from state_changes(guard)
    elif guard.type == "NO_TENSOR_ALIASING":
        yield from new_aliases(guard, frame)
    elif guard.type == "DIMENSION_DYNAMIC_MARKING_GUARD":
        yield new_change(guard, frame, "marking", "unmarked", describe_marks(guard.value))
    elif guard.type == "TYPE_MATCH":
        yield type_change(guard, frame)
    elif guard.type == "ID_MATCH":
        yield identity_change(guard, frame)
    elif guard.type == "DEFAULT_DEVICE":
        yield default_device_change(guard)
    elif guard.type == "TORCH_FUNCTION_MODE_STACK":
        yield mode_stack_change(guard)
    elif guard.type in _VALUE_GUARDS:
        yield value_change(guard, frame)
    elif guard.type in _LENGTH_GUARDS:
        yield length_change(guard, frame)
    elif guard.type in _KEY_GUARDS:
        yield key_change(guard, frame)
    else:
        yield condition_change(guard, frame)


def _merged_keys(changes: list[GuardChange]) -> list[GuardChange]:
    """Return the changes with one change of keys per container."""
    kept: dict[object, GuardChange] = {}
    for change in changes:
        key: object = ("keys", change.source) if change.kind == "keys" else change
        known = kept.get(key)
        if known is not None and change.kind == "keys":
            change = replace(
                known,
                before=shortened(f"{known.before}, {change.before}"),
                now=shortened(f"{known.now}, {change.now}"),
            )
        kept[key] = change
    return list(kept.values())


def _without_consequences(changes: list[GuardChange]) -> Iterator[GuardChange]:
    """Yield the changes that do not follow from others of the same entry."""
    modes = {change.kind for change in changes if change.place == "torch"}
    replaced = [change.source for change in changes if change.kind in _CONTAINERS]
    named = {change.source for change in changes if change.kind != "other"}
    lengths = {change.source for change in changes if change.kind == "length"}
    unmarked = {change.source for change in changes if change.kind == "marking"}
    for change in changes:
        if change.note == MARKED and change.source in unmarked:
            # The code is for a tensor that was not marked.
            change = replace(change, note="")
        is_consequence = (
            (modes and change.place != "torch" and change.kind in ("other", "inference_mode"))
            or any(_is_inside(change.source, source) for source in replaced)
            or (change.kind == "other" and not change.before and change.source in named)
            or (change.kind == "aliasing" and any(each in change.source for each in replaced))
            or (change.kind == "keys" and change.source in lengths)
            or (change.name == MODES and "device" in modes)
        )
        if not is_consequence:
            yield change


def _is_inside(source: str, container: str) -> bool:
    return source != container and source.startswith((f"{container}.", f"{container}["))

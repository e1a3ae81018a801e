"""Find every guard that failed; torch names only the first.

Takes the guard managers of the compiled code of a frame, walks their trees and evaluates each guard
again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from importlib import import_module
from typing import Any, NamedTuple

from fullgraph.capture.changes import (
    FailedGuard,
    backend_changes,
    changes_of_entry,
)
from fullgraph.capture.guard_lines import without_comment
from fullgraph.capture.guard_sources import FrameFacts
from fullgraph.model.events import GuardChange, GuardFailure

# These compare several values and keep state between calls, so one alone says nothing.
RELATIONAL = frozenset(
    {"NO_TENSOR_ALIASING", "OBJECT_ALIASING", "STORAGE_OVERLAPPING", "SYMBOLIC_SHAPE_GUARD"}
)
_LOCAL = re.compile(r"L\['(\w+)'\]")
_FIRST_LINE_PREFIX = re.compile(r"^[!\d]+(/\d+)+: ")
_TENSOR = re.compile(
    r"check_tensor\((.+?), \S+, DispatchKeySet\(.*?\), (\S+), device=.*?, "
    r"requires_grad=(\w+), size=\[(.*?)\], stride=\[(.*?)\]\)"
)
_MISMATCH = re.compile(r"^tensor '(.+?)' .*mismatch")
_NO_TENSOR = re.compile(r"^expected type of '(.+?)' to be ")
_NO_ALIASING = "NO_TENSOR_ALIASING"
_ALIASING = "OBJECT_ALIASING"
# A condition on sizes and numbers, which is not the guard of one value.
_CONDITION = "LAMBDA_GUARD"
_DIM_MARKING = "_has_dynamo_dim_marking"
_MAX_GUARDS = 50
# The entries that are compared value by value. Dynamo lists the one that ran last first.
_MAX_ENTRIES = 32


def failed_guards(
    entries: list[Any], frame: FrameFacts, values: Mapping[str, object], reasons: Reasons
) -> tuple[GuardFailure, ...]:
    """Return the failed guards of each of `entries`, the pieces of compiled code of a frame."""
    failures: list[GuardFailure] = []
    for index, entry in enumerate(entries):
        reason = reasons.first[index] if index < len(reasons.first) else ""
        first = _readable(reason)
        found = _failed(entry.guard_manager, values)
        texts = _distinct([first, *(_readable(_describe_part(guard)) for guard in found.guards)])
        changes: tuple[GuardChange, ...] = ()
        if index < _MAX_ENTRIES:
            changes = _changes(entry, found, first, frame, reasons.backend)
        failures.append(
            GuardFailure(
                str(getattr(entry, "compile_id", "")),
                tuple(texts[:_MAX_GUARDS]),
                changes[:_MAX_GUARDS],
            )
        )
    return tuple(failures)


def _changes(
    entry: Any, found: _Failed, reason: str, frame: FrameFacts, backend: Any
) -> tuple[GuardChange, ...]:
    changes = changes_of_entry(found.guards, reason, replace(frame, evaluate=found.evaluate))
    if not changes and backend is not None:
        return backend_changes(getattr(entry, "backend", None), backend)
    return changes


class Reasons(NamedTuple):
    """What Dynamo says about a recompile: its first reason per entry, and the new backend."""

    first: list[str]
    backend: Any = None


def list_entries(entries: Any) -> list[Any]:
    """Return cache entries as a list; before torch 2.13 they are a linked list."""
    if isinstance(entries, list):
        return entries
    listed: list[Any] = []
    while entries is not None:
        listed.append(entries)
        entries = getattr(entries, "next", None)
    return listed


class _Failed(NamedTuple):
    """The guards of an entry that failed, and the evaluation of its expressions in the frame."""

    guards: list[FailedGuard]
    evaluate: Callable[[str], Any]


def _failed(manager: Any, values: Mapping[str, object]) -> _Failed:
    root = getattr(manager, "root", None)
    scope = dict(getattr(manager, "global_scope", None) or {})
    names: dict[str, object] = {"L": values, "G": scope.get("G")}
    names.update(getattr(manager, "closure_vars", None) or {})

    def evaluate(source: str) -> Any:
        return eval(source, scope, names)

    if root is None or not scope:
        return _Failed([], evaluate)
    return _Failed([*_failed_leaves(root, evaluate), *_failed_shapes(root, evaluate)], evaluate)


def _failed_leaves(manager: Any, evaluate: Callable[[str], Any]) -> Iterator[FailedGuard]:
    leaves = manager.get_leaf_guards()
    source = manager.get_source() if leaves else ""
    if leaves:
        try:
            value = evaluate(source)
        except Exception:
            # The value no longer exists; the guard on its container fails instead.
            leaves = []
        for leaf in leaves:
            name = type(leaf).__name__
            if name == _NO_ALIASING:
                yield from (FailedGuard(name, source, part, value) for part in _parts(leaf))
            elif name == _ALIASING:
                # It is checked with two values, but its text can be evaluated.
                failed = [part for part in _parts(leaf) if _holds(part, evaluate) is False]
                yield from (FailedGuard(_CONDITION, "", part, None) for part in failed)
            elif name not in RELATIONAL:
                parts = _failed_parts(leaf, value, evaluate)
                yield from (FailedGuard(name, source, part, value) for part in parts)
    for child in child_managers(manager):
        yield from _failed_leaves(child, evaluate)


def _parts(leaf: Any) -> list[str]:
    return list(leaf.verbose_code_parts())


def child_managers(manager: Any) -> Iterator[Any]:
    """Yield the managers of the values inside of a guarded value."""
    yield from manager.get_child_managers()
    if hasattr(manager, "get_key_value_managers"):
        for pair in manager.get_key_value_managers().values():
            yield from (child for child in pair if child is not None)


def _failed_parts(leaf: Any, value: object, evaluate: Callable[[str], Any]) -> list[str]:
    """Return the conditions of a guard that do not hold; none if the guard passes."""
    try:
        if leaf(value):
            return []
    except Exception:
        return []
    parts = _parts(leaf)
    # A guard is a conjunction. Not every condition can be evaluated alone: check_tensor(...).
    results = [_holds(part, evaluate) for part in parts]
    failed = [part for part, result in zip(parts, results, strict=True) if result is False]
    failed = failed or [part for part, held in zip(parts, results, strict=True) if held is None]
    return failed or parts


def _holds(part: str, evaluate: Callable[[str], Any]) -> bool | None:
    """Return whether a condition holds; None if it is not one that can be evaluated."""
    try:
        return bool(evaluate(without_comment(part)))
    except Exception:
        return None


def _describe_part(guard: FailedGuard) -> str:
    """Return a guard as text; empty for one that says nothing alone."""
    if guard.type == _NO_ALIASING:
        return ""
    return _tensor_difference(guard.part, guard.value) or guard.part


def _tensor_difference(part: str, value: Any) -> str | None:
    """Return what differs about a tensor; None if `part` does not check a tensor."""
    match = _TENSOR.match(part)
    if match is None:
        return None
    name, dtype, requires_grad, size, stride = match.groups()
    if not isinstance(value, import_module("torch").Tensor):
        return f"{name}: a tensor, now {_article(type(value).__name__)}"
    differences = []
    if dtype != str(value.dtype):
        differences.append(f"dtype {dtype}, now {value.dtype}")
    if requires_grad != str(value.requires_grad):
        differences.append(f"requires_grad {requires_grad}, now {value.requires_grad}")
    differences += _numbers_that_differ("size", size, list(value.shape))
    if not differences:
        differences += _numbers_that_differ("stride", stride, list(value.stride()))
    return f"{name}: {', '.join(differences)}" if differences else None


def _numbers_that_differ(what: str, expected: str, actual: list[int]) -> list[str]:
    numbers = [number.strip() for number in expected.split(",") if number.strip()]
    if len(numbers) != len(actual):
        return [f"{len(numbers)} dimensions, now {len(actual)}"]
    return [
        f"{what}({index}) {before}, now {now}"
        for index, (before, now) in enumerate(zip(numbers, actual, strict=True))
        # None means that the guard allows any size.
        if before not in ("None", str(now))
    ]


def _failed_shapes(root: Any, evaluate: Callable[[str], Any]) -> Iterator[FailedGuard]:
    if not hasattr(root, "get_epilogue_lambda_guards"):
        return
    for guard in root.get_epilogue_lambda_guards():
        for part in _parts(guard):
            if _holds(part, evaluate) is False:
                yield FailedGuard(_CONDITION, "", part, None)


def _readable(part: str) -> str:
    """Return the condition without torch's comment and scope names."""
    line = _FIRST_LINE_PREFIX.sub("", part).split("\nUser stack trace:")[0]
    return _LOCAL.sub(r"\1", without_comment(line))


def _distinct(parts: list[str]) -> list[str]:
    """Return the parts once each; of a sentence of torch and our words for the same, one."""
    seen = list(dict.fromkeys(part for part in parts if part))
    described = {part.split(": ", 1)[0] for part in seen if ": " in part}
    not_tensors = {name for part in seen for name in _NO_TENSOR.findall(part)}
    has_marking = any("_indices')" in part for part in seen)
    return [
        part
        for part in seen
        if described.isdisjoint(_MISMATCH.findall(part))
        and not (part.split(": ", 1)[0] in not_tensors and ": a tensor, now " in part)
        and not (has_marking and part.startswith(_DIM_MARKING))
    ]


def _article(name: str) -> str:
    if name == "NoneType":
        return "None"
    return f"an {name}" if name[:1].lower() in "aeiou" else f"a {name}"

"""Find every guard that failed; torch names only the first.

Takes the guard managers of the compiled code of a frame, walks their trees and evaluates each guard
again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

from fullgraph.model.events import GuardFailure

# These compare several values and keep state between calls, so one alone says nothing.
RELATIONAL = frozenset(
    {"NO_TENSOR_ALIASING", "OBJECT_ALIASING", "STORAGE_OVERLAPPING", "SYMBOLIC_SHAPE_GUARD"}
)
_COMMENT = re.compile(r"\s+# .*$", re.DOTALL)
_LOCAL = re.compile(r"L\['(\w+)'\]")
_FIRST_LINE_PREFIX = re.compile(r"^[!\d]+(/\d+)+: ")
_TENSOR = re.compile(
    r"check_tensor\((.+?), \S+, DispatchKeySet\(.*?\), (\S+), device=.*?, "
    r"requires_grad=(\w+), size=\[(.*?)\], stride=\[(.*?)\]\)"
)
_MISMATCH = re.compile(r"^tensor '(.+?)' .*mismatch")
_NO_TENSOR = re.compile(r"^expected type of '(.+?)' to be ")
_DIM_MARKING = "_has_dynamo_dim_marking"
_MAX_GUARDS = 50


def failed_guards(
    entries: list[Any], values: Mapping[str, object], first_reasons: list[str]
) -> tuple[GuardFailure, ...]:
    """Return the failed guards of each of `entries`, the pieces of compiled code of a frame."""
    failures: list[GuardFailure] = []
    for index, entry in enumerate(entries):
        first = _readable(first_reasons[index]) if index < len(first_reasons) else ""
        failed = _distinct([first, *_walk(entry.guard_manager, values)])
        failures.append(
            GuardFailure(str(getattr(entry, "compile_id", "")), tuple(failed[:_MAX_GUARDS]))
        )
    return tuple(failures)


def list_entries(entries: Any) -> list[Any]:
    """Return cache entries as a list; before torch 2.13 they are a linked list."""
    if isinstance(entries, list):
        return entries
    listed: list[Any] = []
    while entries is not None:
        listed.append(entries)
        entries = getattr(entries, "next", None)
    return listed


def _walk(manager: Any, values: Mapping[str, object]) -> list[str]:
    root = getattr(manager, "root", None)
    scope = getattr(manager, "global_scope", None)
    if root is None or scope is None:
        return []
    names: dict[str, object] = {"L": values, "G": scope.get("G")}
    names.update(manager.closure_vars or {})
    found = [*_failed_leaves(root, dict(scope), names), *_failed_shapes(root, dict(scope), names)]
    return [_readable(part) for part in found]


def _failed_leaves(
    manager: Any, scope: dict[str, object], names: dict[str, object]
) -> Iterator[str]:
    leaves = [leaf for leaf in manager.get_leaf_guards() if type(leaf).__name__ not in RELATIONAL]
    if leaves:
        try:
            value = eval(manager.get_source(), scope, names)
        except Exception:
            # The value no longer exists; the guard on its container fails instead.
            leaves = []
        for leaf in leaves:
            yield from _failed_parts(leaf, value, scope, names)
    for child in child_managers(manager):
        yield from _failed_leaves(child, scope, names)


def child_managers(manager: Any) -> Iterator[Any]:
    """Yield the managers of the values inside of a guarded value."""
    yield from manager.get_child_managers()
    if hasattr(manager, "get_key_value_managers"):
        for pair in manager.get_key_value_managers().values():
            yield from (child for child in pair if child is not None)


def _failed_parts(
    leaf: Any, value: object, scope: dict[str, object], names: dict[str, object]
) -> list[str]:
    """Return the conditions of a guard that do not hold; none if the guard passes."""
    try:
        if leaf(value):
            return []
    except Exception:
        return []
    parts: list[str] = list(leaf.verbose_code_parts())
    # A guard is a conjunction. Not every condition can be evaluated alone: check_tensor(...).
    results = [_evaluate(part, scope, names) for part in parts]
    failed = [part for part, result in zip(parts, results, strict=True) if result is False]
    failed = failed or [part for part, held in zip(parts, results, strict=True) if held is None]
    return [_tensor_difference(part, value) or part for part in failed or parts]


def _evaluate(part: str, scope: dict[str, object], names: dict[str, object]) -> bool | None:
    """Return whether a condition holds; None if it is not one that can be evaluated."""
    try:
        return bool(eval(_COMMENT.sub("", part), scope, names))
    except Exception:
        return None


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


def _failed_shapes(root: Any, scope: dict[str, object], names: dict[str, object]) -> Iterator[str]:
    if not hasattr(root, "get_epilogue_lambda_guards"):
        return
    for guard in root.get_epilogue_lambda_guards():
        for part in guard.verbose_code_parts():
            if _evaluate(part, scope, names) is False:
                yield part


def _readable(part: str) -> str:
    """Return the condition without torch's comment and scope names."""
    line = _FIRST_LINE_PREFIX.sub("", part).split("\nUser stack trace:")[0]
    return _LOCAL.sub(r"\1", _COMMENT.sub("", line)).strip()


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

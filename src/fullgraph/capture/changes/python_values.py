"""Changes of Python values: constants, types, identities, lengths and keys."""

from __future__ import annotations

import ast
import enum
import re
from collections.abc import Iterator
from typing import Any

from fullgraph.capture.changes.failed_guard import (
    KINDS,
    PLAIN_TYPES,
    FailedGuard,
    article,
    describe,
    new_change,
    shortened,
)
from fullgraph.capture.guard_lines import without_comment
from fullgraph.capture.guard_sources import FrameFacts, readable
from fullgraph.model.changes import ENUMERATION
from fullgraph.model.events import ChangeKind, GuardChange

_CLASS = re.compile(r"type=<class '([^']+)'>")
_ADDRESS = re.compile(r"___check_obj_id\(.+, (\d+)\)")
_CONTAINS = re.compile(
    r"__contains__\(.+, (?P<key>[^,]+)\)$|^(?:not )?(?P<member>\S+) in "
    r"|___\w+_contains\((?P<first>.+?), [LG]\["
)
_FUNCTIONS = frozenset({"code", "function", "builtin_function_or_method", "method"})
_SAME_CLASS = "the class is created again"


def value_change(guard: FailedGuard, frame: FrameFacts) -> GuardChange:
    """Return the change of a value that is compared with a constant."""
    constant = _constant_of(guard)
    before, now = shortened(constant), describe(guard.value)
    if "dict.keys(" in guard.source or ".keys())[" in guard.source:
        return new_change(guard, frame, "keys", before, now, source=_container_of(guard.source))
    if guard.source.endswith(".training"):
        return new_change(guard, frame, "training", before, now)
    return new_change(guard, frame, _kind_of_values(constant, guard.value), before, now)


def _constant_of(guard: FailedGuard) -> str:
    """Return the constant that a guard compares with."""
    condition = without_comment(guard.part)
    if guard.type == "NOT_NONE":
        return "not None"
    if condition.endswith(" is None"):
        return "None"
    _, separator, constant = condition.partition(f"{guard.source} == ")
    if not separator:
        _, separator, constant = condition.rpartition(" == ")
    return constant.strip() if separator else condition


def _kind_of_values(before: str, now: object) -> ChangeKind:
    """Return the kind of a change between constants, by their types if these are the same."""
    if before in ("None", "not None") or now is None:
        return "none"
    try:
        type_ = type(ast.literal_eval(before))
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return "type" if type(now) in PLAIN_TYPES else "other"
    return KINDS.get(type_, "other") if type_ is type(now) else "type"


def _container_of(source: str) -> str:
    """Return `d` of `list(dict.keys(d))[0]`."""
    match = re.search(r"list\((?:dict\.keys\((.+)\)|(.+)\.keys\(\))\)\[\d+\]$", source)
    return (match[1] or match[2]) if match else source


def type_change(guard: FailedGuard, frame: FrameFacts) -> GuardChange:
    """Return the change of a type; a class of the same name is another one."""
    match = _CLASS.search(guard.part)
    before = match[1] if match else ""
    actual = type(guard.value)
    now = actual.__qualname__ if actual.__module__ == "builtins" else _full_name(actual)
    if guard.value is None:
        return new_change(guard, frame, "none", article(_short_class(before)), "None")
    if before == "NoneType":
        return new_change(guard, frame, "none", "None", describe(guard.value))
    if before == now:
        short = _short_class(now)
        return new_change(guard, frame, "type", short, f"another {short}", note=_SAME_CLASS)
    return new_change(guard, frame, "type", _short_class(before), _short_class(now))


def _full_name(class_: type) -> str:
    return f"{class_.__module__}.{class_.__qualname__}"


def _short_class(name: str) -> str:
    return name.rpartition(".")[2]


def identity_change(guard: FailedGuard, frame: FrameFacts) -> GuardChange:
    """Return the change of a value that must be one certain object."""
    match = _CLASS.search(guard.part)
    class_ = _short_class(match[1]) if match else ""
    if class_ == "bool" and isinstance(guard.value, bool):
        # Two objects only; older releases compare them by identity.
        kind: ChangeKind = "training" if guard.source.endswith(".training") else "bool"
        return new_change(guard, frame, kind, str(not guard.value), str(guard.value))
    if class_ == "NoneType":
        return new_change(guard, frame, "none", "None", describe(guard.value))
    if guard.value is None:
        return new_change(guard, frame, "none", article(class_), "None")
    if isinstance(guard.value, enum.Enum):
        before, now = _member_with_id(guard), _describe_member(guard.value)
        return new_change(guard, frame, "identity", before, now, note=ENUMERATION)
    if class_ == "type" and isinstance(guard.value, type):
        now = guard.value.__name__
        return new_change(guard, frame, "identity", "another class", now)
    what = "function" if class_ in _FUNCTIONS else class_ or "object"
    source = guard.source.removesuffix(".__code__")
    now = _describe_function(guard.value) if what == "function" else f"a new {what}"
    return new_change(guard, frame, "identity", f"another {what}", now, source=source)


def _member_with_id(guard: FailedGuard) -> str:
    """Return the member of an enumeration that the guard wants, by its address."""
    match = _ADDRESS.search(guard.part)
    wanted = int(match[1]) if match else 0
    members = (each for each in type(guard.value) if id(each) == wanted)  # type: ignore[attr-defined]
    found = next(members, None)
    return "another member" if found is None else _describe_member(found)


def _describe_member(member: enum.Enum) -> str:
    return f"{type(member).__name__}.{member.name}"


def _describe_function(value: Any) -> str:
    code = getattr(value, "__code__", value)
    name = getattr(code, "co_name", None) or getattr(value, "__name__", "a function")
    return f"{name}()"


def length_change(guard: FailedGuard, frame: FrameFacts) -> GuardChange:
    """Return the change of the length of a container."""
    condition = without_comment(guard.part)
    number = re.search(r"(?:==|!=) (\d+)$", condition)
    before = number[1] if number else "0"
    if condition.startswith("not "):
        before = "0"
    return new_change(guard, frame, "length", before, _length_of(guard.value))


def _length_of(value: Any) -> str:
    try:
        return str(len(value))
    except TypeError:
        return str(value.__length_hint__()) if hasattr(value, "__length_hint__") else ""


def changes_of_dict_length(
    name: str, before: str, reason: str, frame: FrameFacts
) -> Iterator[GuardChange]:
    """Yield the change of the length of a dictionary, of which torch tells the name only."""
    # torch removed the scope from the expression.
    for source in (name, re.sub(r"^(\w+)", r"L['\1']", name)):
        try:
            value = frame.evaluate(source)
            now = str(len(value))
        except Exception:
            continue
        guard = FailedGuard("DICT_LENGTH", source, reason, value)
        yield new_change(guard, frame, "length", before, now)
        return


def key_change(guard: FailedGuard, frame: FrameFacts) -> GuardChange:
    """Return the change of the keys of a dictionary, or of the members of a set."""
    condition = without_comment(guard.part)
    match = _CONTAINS.search(condition)
    before = next(filter(None, match.groups()), "") if match else readable(condition, frame)
    if condition.startswith("not "):
        before = f"without {before}"
    return new_change(guard, frame, "keys", before, _describe_keys(guard.value))


def _describe_keys(value: Any) -> str:
    try:
        return shortened(", ".join(describe(key) for key in value))
    except TypeError:
        return ""

"""Change every string of a result: what a renderer shows comes from programs and from torch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from msgspec import Struct

from fullgraph.terminal import printable

_Value = TypeVar("_Value")


def printable_strings(value: _Value) -> _Value:
    """Return a result whose strings have no unprintable characters but tabs and line feeds.

    All fields are covered, also those that are added later.
    """
    changed: _Value = map_strings(value, printable)
    return changed


def map_strings(value: Any, change: Callable[[str], str]) -> Any:
    """Return a copy of structs, tuples, lists and dicts in which every string is changed."""
    match value:
        case str():
            return change(value)
        case Struct():
            names = value.__struct_fields__
            return type(value)(**{n: map_strings(getattr(value, n), change) for n in names})
        case tuple() | list():
            return type(value)(map_strings(each, change) for each in value)
        case dict():
            return {
                map_strings(name, change): map_strings(each, change) for name, each in value.items()
            }
        case _:
            return value

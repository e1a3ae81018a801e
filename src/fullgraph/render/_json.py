"""The JSON of every kind of result: the fields of its structs, under their own names."""

from __future__ import annotations

from msgspec import json


def render(value: object, **_: object) -> str:
    """Return `value` as indented JSON, ending in a newline."""
    return json.format(json.encode(value), indent=2).decode() + "\n"

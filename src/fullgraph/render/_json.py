"""The JSON of every kind of result: the fields of its structs, under their own names."""

from __future__ import annotations

from msgspec import json

from fullgraph.render._strings import map_strings
from fullgraph.terminal import encodable


def render(value: object, **_: object) -> str:
    """Return `value` as indented JSON, ending in a newline."""
    try:
        encoded = json.encode(value)
    except UnicodeEncodeError:
        # A file name that is not valid UTF-8 has halves of surrogate pairs.
        encoded = json.encode(map_strings(value, encodable))
    return json.format(encoded, indent=2).decode() + "\n"

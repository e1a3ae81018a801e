"""Names for people: Dynamo's expression for a value, as the user would write it."""

from __future__ import annotations

import re

_KEY = re.compile(r"list\(dict\.keys\((.+)\)\)\[(\d+)\]")
_SCOPE = re.compile(r"\b[LG]\['([^']+)'\]")
_BUILTIN = re.compile(r"\bG\['__builtins_dict___\d+'\]\['(\w+)'\]")
_MODULE = re.compile(r"\bG\['__import_(\w+?)'\]")
_INDEXED_MODULE = re.compile(r"\._modules\['(\d+)'\]")
_MEMBER = re.compile(r"\._(?:modules|parameters|buffers)\['([^'.]+)'\]")
_STACK_VALUE = re.compile(r"^___stack(\d+)\b")


def readable_name(source: str) -> str:
    """Return `self.layers[0].weight` for `L['self']._modules['layers']._modules['0']…`."""
    key = _KEY.fullmatch(source)
    if key:
        return f"key {key[2]} of {readable_name(key[1])}"
    name = _BUILTIN.sub(r"\1", source)
    name = _MODULE.sub(lambda match: match[1].replace("_dot_", "."), name)
    name = _SCOPE.sub(r"\1", name)
    name = _MEMBER.sub(r".\1", _INDEXED_MODULE.sub(r"[\1]", name))
    return _STACK_VALUE.sub(r"value \1 before the break", name)

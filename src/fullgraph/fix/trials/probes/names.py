"""Probes of names: constants of modules, and numbers and flags of the objects that are called.

Other files may set them, or a test. Dynamo guards on their values.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from types import CodeType, FunctionType
from typing import Any

import torch

from fullgraph.fix.record.recorder import RecordedCall
from fullgraph.fix.trials.probes._probe import NamedValue, Probe

IS_METADATA = False
_MOST_CONSTANTS = 6
_MOST_ATTRIBUTES = 6
_PLAIN = (bool, int, float, str)
_Place = tuple[str, dict[str, Any], str]


def probes(call: RecordedCall) -> Iterator[Probe]:
    """Yield calls in which one constant or attribute has another value."""
    yield from _changed(call, call.target.named.dictionaries(), _MOST_CONSTANTS)
    yield from _changed(call, _attributes(call), _MOST_ATTRIBUTES)


def _attributes(call: RecordedCall) -> Iterator[_Place]:
    """Yield the attributes of the module and its parts that their `forward` reads."""
    module = call.target.module
    for name, part in module.named_modules() if module is not None else ():
        forward = type(part).forward
        if not isinstance(forward, FunctionType) or _is_of_torch(part):
            continue
        used = _names_used(forward.__code__)
        for attribute in vars(part):
            # `training` has a probe of its own.
            if attribute in used and attribute != "training":
                yield f"self.{f'{name}.' if name else ''}{attribute}", vars(part), attribute


def _is_of_torch(module: torch.nn.Module) -> bool:
    return type(module).__module__.startswith("torch.")


def _changed(call: RecordedCall, places: Iterator[_Place], most: int) -> Iterator[Probe]:
    found = [place for place in places if type(place[1].get(place[2])) in _PLAIN]
    for label, space, name in found[:most]:
        old, new = space[name], _other(space[name])
        probe = Probe(f"`{label}` is {new!r}", f"`{label}` is {old!r}", call, compiled=True)
        yield replace(probe, names=(NamedValue(space, name, new),))


def _other(value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    return f"{value}_" if isinstance(value, str) else value * 2 + 1


def _names_used(code: CodeType) -> set[str]:
    inner = [each for each in code.co_consts if isinstance(each, CodeType)]
    return set(code.co_names).union(*map(_names_used, inner))

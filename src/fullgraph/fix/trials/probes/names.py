"""Probes of names: constants of the module, and numbers and flags of the object that is called.

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
_MOST = 6
_PLAIN = (bool, int, float, str)


def probes(call: RecordedCall) -> Iterator[Probe]:
    """Yield calls in which one constant or attribute has another value."""
    function = _function_of(call)
    if function is None:
        return
    space = function.__globals__
    used = _names_used(function.__code__)
    constants = [name for name in space if name in used and not name.startswith("__")]
    yield from _changed(call, "", space, constants)
    owner = getattr(call.target.original, "__self__", call.target.original)
    if owner is not function and hasattr(owner, "__dict__"):
        # `training` has a probe of its own.
        names = [name for name in vars(owner) if name in used and name != "training"]
        yield from _changed(call, "self.", vars(owner), names)


def _changed(
    call: RecordedCall, prefix: str, space: dict[str, Any], names: list[str]
) -> Iterator[Probe]:
    plain = [name for name in names if type(space[name]) in _PLAIN]
    for name in plain[:_MOST]:
        old, new = space[name], _other(space[name])
        probe = Probe(
            f"`{prefix}{name}` is {new!r}", f"`{prefix}{name}` is {old!r}", call, compiled=True
        )
        yield replace(probe, names=(NamedValue(space, name, new),))


def _other(value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    return f"{value}_" if isinstance(value, str) else value * 2 + 1


def _function_of(call: RecordedCall) -> FunctionType | None:
    function = call.target.original
    if isinstance(function, torch.nn.Module):
        function = type(function).forward
    function = getattr(function, "__func__", function)
    return function if isinstance(function, FunctionType) else None


def _names_used(code: CodeType) -> set[str]:
    inner = [each for each in code.co_consts if isinstance(each, CodeType)]
    return set(code.co_names).union(*map(_names_used, inner))

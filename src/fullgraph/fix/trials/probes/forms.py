"""Probes of the form of arguments: flags, numbers, arrays, keywords, defaults."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import torch

from fullgraph.fix.record.recorder import RecordedCall
from fullgraph.fix.trials.probes._probe import (
    Argument,
    Probe,
    arguments_of,
    tensors_of,
    with_value,
)

IS_METADATA = True


def probes(call: RecordedCall) -> Iterator[Probe]:
    """Yield calls with other flags and numbers, and with other forms of the same values."""
    for argument in arguments_of(call):
        for value in _other_values(argument.value):
            changed = with_value(call, argument, value)
            yield _for_value(argument.name, argument.value, value, changed)
    for name, default in _defaults(call):
        for value in _other_values(default):
            changed = replace(call, kwargs={**call.kwargs, name: value})
            yield _for_value(name, default, value, changed)
    yield from _other_forms(call)


def _for_value(name: str, old: Any, new: Any, changed: RecordedCall) -> Probe:
    return Probe(f"`{name}` is {new!r}", f"`{name}` is {old!r}", changed, compiled=True)


def _other_values(value: Any) -> list[Any]:
    """Return other values of a flag or a number; none of other types."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [other for other in (0, 1, value + 1, -1) if other != value]
    if isinstance(value, float):
        return [other for other in (0.0, -value, value * 2 + 1) if other != value]
    return []


def _defaults(call: RecordedCall) -> Iterator[tuple[str, Any]]:
    """Yield the parameters with a default that the call does not pass."""
    function = call.target.original
    if isinstance(function, torch.nn.Module):
        function = function.forward
    try:
        signature = inspect.signature(function)
        passed = signature.bind(*call.args, **call.kwargs).arguments
    except (TypeError, ValueError):
        return
    for name, parameter in signature.parameters.items():
        keyword = parameter.kind in (parameter.KEYWORD_ONLY, parameter.POSITIONAL_OR_KEYWORD)
        if keyword and name not in passed and parameter.default is not parameter.empty:
            yield name, parameter.default


def _other_forms(call: RecordedCall) -> Iterator[Probe]:
    for argument in tensors_of(call):
        tensor = argument.value
        if tensor.numel() == 1 and not tensor.dim():
            changed = with_value(call, argument, tensor.item())
            yield _for_form(argument, "a Python number", changed)
        has_array = tensor.device.type == "cpu" and tensor.dtype != torch.bfloat16
        if has_array and not _is_declared_tensor(call, argument):
            changed = with_value(call, argument, tensor.detach().clone().numpy())
            probe = _for_form(argument, "a NumPy array", changed)
            # Most modules reject arrays. Which part of a module does so first does not matter.
            yield replace(probe, only_accepted=call.target.module is not None)


def _is_declared_tensor(call: RecordedCall, argument: Argument) -> bool:
    """Return whether the annotation of an argument says that it is a tensor."""
    annotations = getattr(call.target.original, "__annotations__", {})
    return "Tensor" in str(annotations.get(argument.name, ""))


def _for_form(argument: Argument, form: str, changed: RecordedCall) -> Probe:
    return Probe(f"`{argument.name}` is {form}", f"`{argument.name}` is a tensor", changed)

"""Find the modules that a plain function computes with: its globals, closure and defaults."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType, MethodType
from typing import Any

import torch

_TORCH_FOLDER = os.path.dirname(torch.__file__)
_MOST_FUNCTIONS = 200


def reachable_modules(function: Callable[..., Any]) -> list[torch.nn.Module]:
    """Return the modules that a function or the functions that it names refer to, each once."""
    found: dict[int, torch.nn.Module] = {}
    seen: set[int] = set()
    waiting: list[Any] = [function]
    while waiting and len(seen) < _MOST_FUNCTIONS:
        value = waiting.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, torch.nn.Module):
            found[id(value)] = value
        elif isinstance(value, MethodType):
            waiting += [value.__func__, value.__self__]
        elif type(value) is FunctionType:
            if not value.__code__.co_filename.startswith(_TORCH_FOLDER):
                waiting += _referred_to(value)
        elif isinstance(value, list | tuple):
            waiting += [each for each in value if isinstance(each, torch.nn.Module)]
        elif isinstance(value, dict):
            waiting += [each for each in value.values() if isinstance(each, torch.nn.Module)]
        elif callable(value) and hasattr(value, "__dict__"):
            waiting += [each for each in vars(value).values() if isinstance(each, torch.nn.Module)]
    modules = list(found.values())
    parts = {id(part) for module in modules for part in list(module.modules())[1:]}
    return [module for module in modules if id(module) not in parts]


def _referred_to(function: FunctionType) -> Iterator[Any]:
    for name in _names(function.__code__):
        if name in function.__globals__:
            yield function.__globals__[name]
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:
            # The cell has no value yet.
            continue
    yield from function.__defaults__ or ()
    yield from (function.__kwdefaults__ or {}).values()


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)

"""Temporarily replaces what a program gets from `torch.compile` and `Module.compile`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Protocol

import torch

Function = Callable[..., Any]


class Wrap(Protocol):
    """From what was compiled, its compiled form and the options to the function to call."""

    def __call__(self, original: Any, compiled: Function, options: dict[str, Any]) -> Function: ...


def intercept_compile(wrap: Wrap) -> Callable[[], None]:
    """Replace torch.compile until the returned function is called.

    Compiled objects keep their type and attributes.
    """
    compile_, module_compile = torch.compile, torch.nn.Module.compile

    @functools.wraps(compile_)
    def compile_and_wrap(model: Any = None, **options: Any) -> Any:
        if model is None:
            return lambda function: compile_and_wrap(function, **options)
        wrap_this = functools.partial(wrap, model, options=options)
        return wrap_call(compile_(model, **options), wrap_this)

    @functools.wraps(module_compile)
    def module_compile_and_wrap(module: Any, *args: Any, **options: Any) -> None:
        module_compile(module, *args, **options)
        # Only the module's call is compiled; the module itself stays the same object.
        module._compiled_call_impl = wrap(module, module._compiled_call_impl, options)

    def restore() -> None:
        torch.compile = compile_
        torch.nn.Module.compile = module_compile

    torch.compile = compile_and_wrap
    torch.nn.Module.compile = module_compile_and_wrap
    return restore


def wrap_call(compiled: Any, wrap: Callable[[Function], Function]) -> Any:
    """Return a compiled function or module whose call is wrapped."""
    if not isinstance(compiled, torch.nn.Module):
        return functools.wraps(compiled)(wrap(compiled))
    compiled.forward = wrap(compiled.forward)
    return compiled

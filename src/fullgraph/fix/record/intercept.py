"""What a program gets from `torch.compile` and `Module.compile`, replaced by something else."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Protocol

import torch

Function = Callable[..., Any]


class Wrap(Protocol):
    """From what was compiled, its compiled form and the options to what shall be called."""

    def __call__(self, original: Any, compiled: Function, options: dict[str, Any]) -> Function: ...


def replace_compile(wrap: Wrap) -> Callable[[], None]:
    """From now on, until what this returns is called. Types and attributes stay what they are."""
    compile_, module_compile = torch.compile, torch.nn.Module.compile

    @functools.wraps(compile_)
    def compile_and_wrap(model: Any = None, **options: Any) -> Any:
        if model is None:
            return lambda function: compile_and_wrap(function, **options)
        return put_in(compile_(model, **options), functools.partial(wrap, model, options=options))

    @functools.wraps(module_compile)
    def module_compile_and_wrap(module: Any, *args: Any, **options: Any) -> None:
        module_compile(module, *args, **options)
        # Only the call is compiled then; the module itself goes on being what it is.
        module._compiled_call_impl = wrap(module, module._compiled_call_impl, options)

    def restore() -> None:
        torch.compile = compile_
        torch.nn.Module.compile = module_compile

    torch.compile = compile_and_wrap
    torch.nn.Module.compile = module_compile_and_wrap
    return restore


def put_in(compiled: Any, wrap: Callable[[Function], Function]) -> Any:
    """A compiled function or module, with its call wrapped."""
    if not isinstance(compiled, torch.nn.Module):
        return functools.wraps(compiled)(wrap(compiled))
    compiled.forward = wrap(compiled.forward)
    return compiled

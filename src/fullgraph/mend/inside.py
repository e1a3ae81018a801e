"""Mends in memory: while a plan holds, what is compiled is compiled as the plan says.

`start` is for a program that `fullgraph run --mend` runs; `fullgraph.compile` uses `Mending`.
Patches are put in when something compiled is first called: what it needs is imported by then.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from msgspec import json

from fullgraph.mend.model import MendError, Plan
from fullgraph.mend.patch import apply_patches
from fullgraph.mend.settings import settings_hold

PLAN_VARIABLE = "FULLGRAPH_PLAN"


@contextmanager
def around(plan: Plan) -> Iterator[Any]:
    """What has to hold while something is compiled; gives the log of value guards, if any."""
    with settings_hold(plan.settings):
        if not plan.guards:
            yield None
            return
        from fullgraph.mend.value_guards import value_guards

        with value_guards() as log:
            yield log


class Mending:
    """One plan, put into effect in this process."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._waiting = dict(plan.files)

    def put_in(self) -> None:
        """Patch what is loaded; the rest when it is."""
        for path, patch in list(self._waiting.items()):
            try:
                apply_patches([patch])
            except MendError:
                continue
            del self._waiting[path]

    def wrapped(self, function: Callable[..., Any]) -> Callable[..., Any]:
        import torch

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            # Within another compiled function this is traced, and holds already.
            if torch.compiler.is_compiling():
                return function(*args, **kwargs)
            if self._waiting:
                self.put_in()
            with around(self._plan):
                return function(*args, **kwargs)

        return call

    def mended(self, compiled: Any) -> Any:
        """A compiled function or module, which from now on runs as the plan says."""
        import torch

        if not isinstance(compiled, torch.nn.Module):
            return self.wrapped(compiled)
        compiled.forward = self.wrapped(compiled.forward)
        return compiled


def start(path: str) -> None:
    """Called when torch has been imported: mend all that the program compiles."""
    import torch

    plan = json.decode(Path(path).read_bytes(), type=Plan)
    mending = Mending(plan)
    compile_, module_compile = torch.compile, torch.nn.Module.compile

    @functools.wraps(compile_)
    def mending_compile(model: Any = None, **options: Any) -> Any:
        if model is None:
            return lambda function: mending_compile(function, **options)
        return mending.mended(compile_(model, **options))

    @functools.wraps(module_compile)
    def mending_module_compile(module: Any, *args: Any, **options: Any) -> None:
        module_compile(module, *args, **options)
        module._compiled_call_impl = mending.wrapped(module._compiled_call_impl)

    torch.compile = mending_compile
    torch.nn.Module.compile = mending_module_compile

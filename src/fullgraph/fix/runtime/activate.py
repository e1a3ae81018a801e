"""Mends in memory: while a plan holds, what is compiled is compiled as the plan says.

`start` is for a program that `fullgraph run --mend` runs; `fullgraph.compile` uses `Mending`.
Patches are put in when something compiled is first called: what it needs is imported by then.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

from msgspec import json

from fullgraph.fix.model import MendError, Plan
from fullgraph.fix.runtime.dynamo_config import settings_hold
from fullgraph.fix.runtime.hot_patch import NotLoadedError, apply_patches

PLAN_VARIABLE = "FULLGRAPH_PLAN"


@contextmanager
def around(plan: Plan, *, lenient: bool = False) -> Iterator[Any]:
    """What has to hold while something is compiled; gives the log of value guards, if any.

    `lenient` goes on without guards where there cannot be any, as in a second thread.
    """
    with settings_hold(plan.settings), ExitStack() as stack:
        log = None
        if plan.guards:
            from fullgraph.value_guards import ValueGuardError, value_guards

            with suppress(ValueGuardError) if lenient else nullcontext():
                log = stack.enter_context(value_guards())
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
            except NotLoadedError:
                continue
            except MendError as error:
                warnings.warn(f"{path} runs as it is, not mended: {error}", stacklevel=3)
            del self._waiting[path]

    def wrapped(self, function: Callable[..., Any]) -> Callable[..., Any]:
        import torch

        def call(*args: Any, **kwargs: Any) -> Any:
            # Within another compiled function this is traced, and holds already.
            if torch.compiler.is_compiling():
                return function(*args, **kwargs)
            if self._waiting:
                self.put_in()
            with around(self._plan, lenient=True):
                return function(*args, **kwargs)

        return call


def start(path: str) -> None:
    """Called when torch has been imported: mend all that the program compiles."""
    from fullgraph.fix.record.intercept import replace_compile

    mending = Mending(json.decode(Path(path).read_bytes(), type=Plan))
    replace_compile(lambda original, compiled, options: mending.wrapped(compiled))

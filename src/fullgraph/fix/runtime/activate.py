"""Activates a plan: what a process compiles is compiled with the plan's fixes.

`start` is for a program that `fullgraph run --fix` runs; `fullgraph.compile` uses `ActivePlan`.
Functions are patched when a compiled function is first called: its imports are done by then.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

import torch
from msgspec import json

from fullgraph.fix.model import FixError, FixPlan
from fullgraph.fix.record.intercept import intercept_compile
from fullgraph.fix.runtime.dynamo_config import dynamo_config
from fullgraph.fix.runtime.hot_patch import NotLoadedError, PatchSwitch
from fullgraph.fix.runtime.signature import signature_of
from fullgraph.value_guards import GuardLog, ValueGuardError, value_guards

_MOST_SIGNATURES = 1000


@contextmanager
def plan_active(plan: FixPlan, *, lenient: bool = False) -> Iterator[GuardLog | None]:
    """Apply a plan's settings and value guards in a block; gives the log of value guards, if any.

    With `lenient`, the block runs without value guards where they are not possible, as in a
    second thread.
    """
    with dynamo_config(plan.settings), ExitStack() as stack:
        log = None
        if plan.guards:
            with suppress(ValueGuardError) if lenient else nullcontext():
                log = stack.enter_context(value_guards())
        yield log


class ActivePlan:
    """A plan that is in effect in this process.

    A plan for all calls stays in the loaded functions. A plan for calls with some signatures is in
    them only while such a call runs, so that other calls and other callers run the original code.
    """

    def __init__(self, plan: FixPlan) -> None:
        self._plan = plan
        self._not_loaded = dict(plan.files)
        self._switches: list[PatchSwitch] = []
        # Whether the plan is for calls with a signature.
        self._fits: dict[object, bool] = {}
        self._lock = threading.Lock()
        # How many calls that the plan is for are running.
        self._running = 0

    def patch_loaded(self) -> None:
        """Patch the functions of files that have been loaded since the last call."""
        for path, file in list(self._not_loaded.items()):
            try:
                switch = PatchSwitch(file)
            except NotLoadedError:
                continue
            except FixError as error:
                warnings.warn(f"{path} runs without fixes: {error}", stacklevel=3)
            else:
                switch.turn(not self._plan.signatures or self._running > 0)
                self._switches.append(switch)
            del self._not_loaded[path]

    def wrap(self, function: Callable[..., Any], original: Any = None) -> Callable[..., Any]:
        """Return a compiled function that is called with the plan active.

        `original` is what was compiled. A call with a signature that the plan is not for runs the
        original code of all functions.
        """

        def call(*args: Any, **kwargs: Any) -> Any:
            # Within another compiled function this is traced, and the plan is active already.
            if torch.compiler.is_compiling():
                return function(*args, **kwargs)
            if self._not_loaded:
                with self._lock:
                    self.patch_loaded()
            if not self._is_for(args, kwargs, original):
                return function(*args, **kwargs)
            with self._patched(), plan_active(self._plan, lenient=True):
                return function(*args, **kwargs)

        return call

    def _is_for(self, args: tuple[Any, ...], kwargs: dict[str, Any], original: Any) -> bool:
        if not self._plan.signatures:
            return True
        signature = signature_of(args, kwargs, original)
        if signature not in self._fits:
            # A number that changes in each call would fill the memory.
            if len(self._fits) >= _MOST_SIGNATURES:
                self._fits.clear()
            self._fits[signature] = repr(signature) in self._plan.signatures
        return self._fits[signature]

    @contextmanager
    def _patched(self) -> Iterator[None]:
        """Run a block with the edited code of all functions."""
        if not self._plan.signatures:
            yield
            return
        self._count(1)
        try:
            yield
        finally:
            self._count(-1)

    def _count(self, calls: int) -> None:
        with self._lock:
            was_running, self._running = self._running, self._running + calls
            if bool(was_running) != bool(self._running):
                for switch in self._switches:
                    switch.turn(self._running > 0)


def start(path: str) -> None:
    """Apply the plan in a file to everything that the program compiles from now on."""
    active = ActivePlan(json.decode(Path(path).read_bytes(), type=FixPlan))
    intercept_compile(lambda original, compiled, options: active.wrap(compiled, original))

"""Records the outermost calls of modules and compiled functions while the program runs.

`torch.compile` returns its usual result, but calling that runs the original function, as in
`fix/record`. In addition, every call of a module is seen. So the whole model is known also if the
program compiles only its layers, or nothing at all.
"""

from __future__ import annotations

import functools
import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch

from fullgraph.capture.dynamo_hooks import is_skipped_by_rule
from fullgraph.fix.record.intercept import intercept_compile
from fullgraph.fix.record.recorder import CallRecorder, CompiledTarget, RecordedCall
from fullgraph.where.call_sites import (
    called_expression,
    calling_line,
    compiled_expression,
    name_in_program,
)
from fullgraph.where.report import CodeLine

# In all; at most two of them have inputs of the same kind.
_MOST_CALLS = 16

Function = Callable[..., Any]


@dataclass(eq=False)
class CompiledPart:
    """A function or module that the program compiles, and the line that does so."""

    target: CompiledTarget
    line: CodeLine | None
    # What a call of the compiled object runs; eager code unless a worker changes it.
    run: Function
    # Whether the line has no effect: Dynamo skips torch's own modules that are compiled in place.
    has_no_effect: bool = False


@dataclass(eq=False)
class Root:
    """An outermost module or compiled function, with its recorded calls."""

    name: str
    target: CompiledTarget
    calls: list[RecordedCall] = field(default_factory=list)
    # How often the program calls it, and how long that takes in eager mode.
    called: int = 0
    seconds: float = 0.0
    # What the program compiles of it.
    parts: list[CompiledPart] = field(default_factory=list)
    # Its outermost modules: itself, or those that a function calls, each with its name.
    modules: list[tuple[str, torch.nn.Module]] = field(default_factory=list)

    @property
    def is_function(self) -> bool:
        """Whether this is a function, and not a module or the method of one."""
        return self.target.module is None

    @property
    def options(self) -> dict[str, Any]:
        """The options with which the program compiles, the first ones if there are several."""
        return dict(self.parts[0].target.options) if self.parts else {}

    @property
    def is_compiled(self) -> bool:
        """Whether the program compiles the whole of it."""
        whole = self.target.original
        return any(_same(part.target.original, whole) for part in self.effective_parts)

    @property
    def effective_parts(self) -> list[CompiledPart]:
        """What the program compiles of it, without the lines that have no effect."""
        return [part for part in self.parts if not part.has_no_effect]

    def has_module(self, module: torch.nn.Module) -> bool:
        """Return whether a module is known as one of the outermost."""
        return any(each is module for _, each in self.modules)

    def add_module(self, name: str, module: torch.nn.Module) -> None:
        """Note a module that the function calls; the layers of a loop have the same name."""
        self.modules.append((name or type(module).__name__, module))


def _same(one: Any, other: Any) -> bool:
    """Return whether compiling one is compiling the other: a module and its `forward` are."""
    return _identity(one) == _identity(other)


def _identity(original: Any) -> tuple[int, str]:
    if isinstance(original, torch.nn.Module):
        return id(original), "forward"
    owner = getattr(original, "__self__", None)
    return (id(original), "") if owner is None else (id(owner), original.__name__)


class EnoughRecordedError(BaseException):
    """Ends the program: its calls are recorded. Not an `Exception`, which programs catch."""


class PlacementRecorder:
    """Records outermost calls, and what the program compiles where.

    With calls recorded, the program is ended after `seconds`, or before it makes more than
    `most_calls` outermost calls.
    """

    def __init__(self, seconds: float = math.inf, most_calls: float = math.inf) -> None:
        self._deadline = time.monotonic() + seconds
        self._most_calls = most_calls
        # The number of outermost calls, and whether the program was ended.
        self.called = 0
        self.has_ended_program = False
        self.roots: list[Root] = []
        self.parts: list[CompiledPart] = []
        # Whether the program ran a backward pass.
        self.ran_backward = False
        self._calls = CallRecorder(most_calls=_MOST_CALLS)
        self._recording = False
        self._root: Root | None = None
        # How many modules are being called within a function.
        self._inner = 0

    def install(self) -> Callable[[], None]:
        """Record until the returned function is called; modules are not compiled afterwards."""
        restore_compile = intercept_compile(self._wrap)
        call_module, backward = torch.nn.Module.__call__, torch.autograd.backward
        recorder = self

        def recorded_call(module: torch.nn.Module, /, *args: Any, **kwargs: Any) -> Any:
            return recorder._call_module(module, call_module, args, kwargs)

        def noted_backward(*args: Any, **kwargs: Any) -> Any:
            recorder.ran_backward = True
            return backward(*args, **kwargs)

        torch.nn.Module.__call__ = recorded_call
        torch.autograd.backward = noted_backward
        self._recording = True

        def restore() -> None:
            self._recording = False
            torch.nn.Module.__call__ = call_module
            torch.autograd.backward = backward
            restore_compile()
            for part in self.parts:
                original = part.target.original
                if isinstance(original, torch.nn.Module):
                    in_place = original._compiled_call_impl is not None
                    part.has_no_effect = in_place and is_skipped_by_rule(original.forward)
                    original._compiled_call_impl = None
                    part.run = original

        return restore

    def chosen_roots(self) -> list[Root]:
        """Return what to try: what the program compiles, or all of its outermost modules.

        Those that take most of the time come first.
        """
        called = sorted((root for root in self.roots if root.calls), key=lambda r: -r.seconds)
        compiled = [root for root in called if root.parts]
        if compiled:
            return compiled
        # A loss without parameters is not a model.
        models = [root for root in called if any(True for _ in root.modules[0][1].parameters())]
        return models or called

    def _wrap(self, original: Any, compiled: Function, options: dict[str, Any]) -> Function:
        """Return what the program calls in place of a compiled function."""
        line, call = calling_line()
        plain_name = getattr(original, "__qualname__", type(original).__name__)
        name = compiled_expression(call) or plain_name
        target = CompiledTarget(name, original, dict(options))
        # A module whose own call is compiled would call itself.
        run = original._call_impl if isinstance(original, torch.nn.Module) else original
        part = CompiledPart(target, line, run)
        self.parts.append(part)

        def call_part(*args: Any, **kwargs: Any) -> Any:
            if self._recording:
                return self._call_part(part, args, kwargs)
            return part.run(*args, **kwargs)

        return call_part

    def _call_part(self, part: CompiledPart, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if not _in_main_thread():
            return part.run(*args, **kwargs)
        if self._root is not None:
            _add_part(self._root, part)
            return part.run(*args, **kwargs)
        root = self._root_of(part.target.original, part.target.name)
        _add_part(root, part)
        return self._call_root(root, part.run, args, kwargs)

    def _call_module(
        self,
        module: torch.nn.Module,
        call: Function,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Any:
        # The result of torch.compile is a module that calls the original one.
        if not self._recording or hasattr(module, "_orig_mod") or not _in_main_thread():
            return call(module, *args, **kwargs)
        if self._root is None:
            root = self._root_of(module)
            return self._call_root(root, functools.partial(call, module), args, kwargs)
        if self._root.is_function and not self._inner and not self._root.has_module(module):
            _, site = calling_line()
            self._root.add_module(called_expression(site), module)
        self._inner += 1
        try:
            return call(module, *args, **kwargs)
        finally:
            self._inner -= 1

    def _root_of(self, original: Any, name: str = "") -> Root:
        """Return the root of an outermost call; a new one is named as the program names it."""
        for root in self.roots:
            if _same(root.target.original, original):
                return root
        target = CompiledTarget(name or _name_of_module(original), original, {})
        root = Root(target.name, target)
        if target.module is not None:
            is_method = target.module is not original
            owner = target.name.rpartition(".")[0] if is_method else target.name
            root.modules.append((owner or target.name, target.module))
        self.roots.append(root)
        self._calls.targets.append(target)
        return root

    def _call_root(
        self, root: Root, run: Function, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        if self._is_enough():
            self.has_ended_program = True
            raise EnoughRecordedError
        self.called += 1
        root.called += 1
        known = len(self._calls.calls)
        self._calls.note(root.target, args, kwargs)
        root.calls += self._calls.calls[known:]
        self._root, self._inner = root, 0
        started = time.perf_counter()
        try:
            return run(*args, **kwargs)
        finally:
            self._root = None
            root.seconds += time.perf_counter() - started

    def _is_enough(self) -> bool:
        is_late = bool(self.chosen_roots()) and time.monotonic() > self._deadline
        return is_late or self.called >= self._most_calls


def _name_of_module(module: torch.nn.Module) -> str:
    """Return a name for a module that is being called."""
    name = name_in_program(module)
    if name and name != "self":
        return name
    _, site = calling_line()
    return called_expression(site) or name or type(module).__name__


def _add_part(root: Root, part: CompiledPart) -> None:
    if part not in root.parts:
        root.parts.append(part)


def _in_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()

"""Calls of the functions that a plan changes, other than the compiled ones.

Whoever imports such a function may call it with other arguments than the compiled function does, so
it has probes of its own. Its recorded arguments are those of the recorded call.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from types import CodeType, FrameType, FunctionType, MethodType
from typing import Any

import torch

from fullgraph.fix.model import FixError
from fullgraph.fix.record.recorder import CallContext, CompiledTarget, RecordedCall, clone_inputs
from fullgraph.fix.record.snapshot import function_of
from fullgraph.fix.runtime.hot_patch import codes_with_edits
from fullgraph.fix.source.edits import FileEdits
from fullgraph.fix.trials.outcome import run_call
from fullgraph.fix.trials.probes import Probe, probes_of
from fullgraph.fix.trials.samples import call_restored

_MOST_HELPERS = 3
_NO_PLAIN_CALL = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


def helper_probes(
    files: Iterable[FileEdits], calls: Iterable[RecordedCall], most: int
) -> list[Probe]:
    """Return probes of the functions that some edits change; they run in eager mode only."""
    probes = []
    for name, call in _helper_calls(files, list(calls)):
        for probe in probes_of(call, most):
            probes.append(
                replace(
                    probe,
                    name=f"{name}: {probe.name}",
                    assumption=f"in `{name}`, {probe.assumption}",
                    base=f"{name}: {probe.base}" if probe.base else "",
                    combines=tuple(f"{name}: {each}" for each in probe.combines),
                    compiled=False,
                    helper=name,
                )
            )
    return probes


def _helper_calls(
    files: Iterable[FileEdits], calls: list[RecordedCall]
) -> Iterator[tuple[str, RecordedCall]]:
    """Yield the first call of each changed function within some recorded calls, with its name."""
    compiled = {function_of(call.target.original) for call in calls}
    wanted = {
        function.__code__: function for function in _changed(files) if function not in compiled
    }
    for call in calls:
        if wanted:
            found = list(_calls_within(call, wanted))
            for function, _ in found:
                wanted.pop(function.__code__, None)
            yield from ((function.__qualname__, each) for function, each in found)


def _changed(files: Iterable[FileEdits]) -> list[FunctionType]:
    """Return the functions and methods with edits, without those that build objects."""
    found: dict[CodeType, FunctionType] = {}
    for file in files:
        try:
            functions = codes_with_edits(file)
        except FixError:
            continue
        for function, edited in functions:
            code = function.__code__
            is_plain = not code.co_flags & _NO_PLAIN_CALL and "<locals>" not in code.co_qualname
            if is_plain and not code.co_name.startswith("__") and not _is_same(code, edited):
                found.setdefault(code, function)
    return list(found.values())[:_MOST_HELPERS]


def _is_same(one: Any, other: Any) -> bool:
    """Return whether two code objects do the same; their lines may have moved."""
    if not isinstance(one, CodeType) or not isinstance(other, CodeType):
        return type(one) is type(other) and bool(one == other)
    names = "co_code", "co_names", "co_varnames", "co_freevars", "co_cellvars"
    return (
        all(getattr(one, name) == getattr(other, name) for name in names)
        and len(one.co_consts) == len(other.co_consts)
        and all(map(_is_same, one.co_consts, other.co_consts))
    )


def _calls_within(
    call: RecordedCall, wanted: dict[CodeType, FunctionType]
) -> Iterator[tuple[FunctionType, RecordedCall]]:
    """Yield the first call of some functions while the original program makes a recorded call."""
    found: dict[CodeType, RecordedCall] = {}

    def profile(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and code in wanted and code not in found:
            found[code] = _recorded(wanted[code], frame)

    with call_restored(call):
        before = sys.getprofile()
        sys.setprofile(profile)
        try:
            run_call(call, call.target.original, call.target)
        finally:
            sys.setprofile(before)
    return ((wanted[code], each) for code, each in found.items())


def _recorded(function: FunctionType, frame: FrameType) -> RecordedCall:
    """Return the call that has just begun."""
    code, values = frame.f_code, frame.f_locals
    names = code.co_varnames
    positional = [values[name] for name in names[: code.co_argcount]]
    rest = names[code.co_argcount :]
    kwargs = {name: values[name] for name in rest[: code.co_kwonlyargcount]}
    rest = rest[code.co_kwonlyargcount :]
    if code.co_flags & inspect.CO_VARARGS:
        positional += values[rest[0]]
        rest = rest[1:]
    if code.co_flags & inspect.CO_VARKEYWORDS:
        kwargs |= values[rest[0]]
    original: Any = function
    if names[:1] in (("self",), ("cls",)) and positional:
        original, positional = MethodType(function, positional[0]), positional[1:]
    target = CompiledTarget(function.__qualname__, original, {})
    with torch.no_grad():
        # Tensors of the middle of a computation become leaves.
        args, copied = clone_inputs((tuple(positional), kwargs), target.state)
    return RecordedCall(target, args, copied, CallContext.current())

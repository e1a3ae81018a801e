"""The lines that a run in eager mode showed, and what such a run has to watch."""

from __future__ import annotations

import re
from typing import NamedTuple

from fullgraph.analysis.state import AnalysisState, CompileKey
from fullgraph.analysis.user_lines.bound import UnclearName
from fullgraph.analysis.user_lines.written import attribute_of, is_about_contents
from fullgraph.model.events import Call, Frame, GuardChange, Recompile, Write
from fullgraph.model.watches import Watch

_GLOBAL = re.compile(r"^G\['(\w+)'\]$")
_PARAMETER = re.compile(r"\._parameters\['(\w+)'\]$")
_WRITTEN = frozenset({"attribute", "parameter", "global", "default", "closure"})


class GroupMember(NamedTuple):
    """A recompile of a group: its process, the event, and the change that put it in the group."""

    process: int
    recompile: Recompile
    change: GuardChange


class ObservedLines:
    """The lines of `Write` events, for the recompiles of the calls that they belong to."""

    def __init__(self, state: AnalysisState) -> None:
        self._calls = state.result(calls_by_compile)
        self._writes = {
            (process, event.target, event.number, event.source): event
            for process, event in state.events(Write)
        }

    def line_of(self, member: GroupMember) -> Frame | None:
        """Return the line that last wrote the value of a change before its call, if it was seen."""
        call = self._calls.get((member.process, member.recompile.compile))
        if call is None:
            return None
        key = (member.process, call.target, call.number, member.change.source)
        write = self._writes.get(key)
        # Another caller means that the two runs went different ways.
        return write.frame if write is not None and write.caller == call.caller else None


def observed_lines(state: AnalysisState) -> ObservedLines:
    """Return the lines that a run in eager mode showed."""
    return ObservedLines(state)


def calls_by_compile(state: AnalysisState) -> dict[CompileKey, Call]:
    """Return the call during which each compile happened."""
    return {
        (process, compiled): call
        for process, call in state.events(Call)
        for compiled in call.compiles
    }


def is_bound(change: GuardChange) -> bool:
    """Return whether a name of a caller holds the value that changes."""
    return change.place in ("argument", "break")


def is_written(change: GuardChange) -> bool:
    """Return whether something outside of the call holds the value that changes."""
    return change.place in _WRITTEN


def watch_of_binding(member: GroupMember, unclear: UnclearName | None, call: Call) -> Watch | None:
    """Return how to watch the name that a call passes; None if it cannot be watched."""
    code = member.recompile.code
    is_called = (code.file, code.line) == (call.code.file, call.code.line)
    if unclear is None or not is_called or code.resumed_at is not None:
        return None
    file, function, name = unclear
    return Watch(member.change.source, "local", name, (), file, function)


def watch_of_write(member: GroupMember, call: Call) -> Watch | None:
    """Return how to watch an attribute, global, default or cell; None if it cannot be watched."""
    code, change = member.recompile.code, member.change
    if is_about_contents(change):
        # The line that bound the container says nothing about what it has now.
        return None
    # Dynamo compiles torch's wrapper of a function of torch or of a module of torch.
    is_called = (code.file, code.line) == (call.code.file, call.code.line) or (
        "external_utils" in code.file
    )
    if change.place == "default":
        return Watch(change.source, "default", change.name, ())
    if change.place == "closure":
        return Watch(change.source, "cell", change.name, (), code.file) if is_called else None
    name = _GLOBAL.match(change.source)
    if change.place == "global" and name is not None:
        return Watch(change.source, "global", name[1], (), code.file)
    parameter = _PARAMETER.search(change.source)
    if change.place == "parameter" and parameter is not None and is_called:
        return Watch(change.source, "attribute", parameter[1], (), after_first_call=True)
    attribute = attribute_of(change)
    holder = "" if is_called else change.holder
    if not attribute or not (is_called or holder):
        return None
    return Watch(change.source, "attribute", attribute, (), holder=holder)

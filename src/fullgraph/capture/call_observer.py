"""Looks at one call that is not timed: which functions run around its graphs."""

from __future__ import annotations

import itertools
import os
import sys
from collections.abc import Sequence
from types import CodeType, FrameType
from typing import NamedTuple

from fullgraph.capture.call_profiler import CallProfiler
from fullgraph.capture.compiled_calls import CompiledCall
from fullgraph.capture.dynamo_hooks import is_generated_by_dynamo
from fullgraph.capture.stacks import describe_code
from fullgraph.model.events import Code, CodeLine

# Functions of torch that stand between compiled code and its graph.
_BETWEEN = os.sep + os.path.join("_dynamo", "")


class StackEntry(NamedTuple):
    """A frame of Python's stack when a graph starts."""

    frame: int
    code: CodeType
    instruction: int
    line: int


class GapFrames(NamedTuple):
    """The functions that ran throughout a gap, and those that it entered."""

    frames: tuple[CodeLine, ...]
    nested: tuple[CodeLine, ...]


class CallObserver:
    """Notes the stack at each graph of a call, and what its profiler counts if it has one."""

    def __init__(self, profiler: CallProfiler | None = None) -> None:
        self.profiler = profiler
        self._stacks: list[tuple[StackEntry, ...]] = []
        self._compiles: list[str] = []

    def before_graph(self, call: CompiledCall, compile_id: str) -> None:
        """Note the functions that are running."""
        self._stacks.append(() if call.is_backward else tuple(_stack_up_to(call.frame)))
        self._compiles.append(compile_id)
        if self.profiler is not None:
            self.profiler.before_graph()

    def after_graph(self) -> None:
        """Note that the graph ended."""
        if self.profiler is not None:
            self.profiler.after_graph()

    def stop(self) -> None:
        """Stop looking."""
        if self.profiler is not None:
            self.profiler.stop()

    def gap_frames(self) -> list[GapFrames]:
        """Return the functions around the graphs, one entry per gap."""
        return _gap_frames(self._stacks, self._compiles)


def _stack_up_to(outermost: int) -> list[StackEntry]:
    """Return the frames between torch's call of the compiled function and a graph."""
    entries: list[StackEntry] = []
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and id(frame) != outermost:
        entries.append(StackEntry(id(frame), frame.f_code, frame.f_lasti, frame.f_lineno))
        frame = frame.f_back
    entries.reverse()
    return _without_wrappers(entries)


def _without_wrappers(entries: list[StackEntry]) -> list[StackEntry]:
    """Return the frames down to the one whose graph runs."""
    here = os.path.dirname(__file__)
    while entries and (
        _BETWEEN in entries[-1].code.co_filename or entries[-1].code.co_filename.startswith(here)
    ):
        entries.pop()
    return entries


def _gap_frames(
    stacks: Sequence[tuple[StackEntry, ...]], compiles: Sequence[str]
) -> list[GapFrames]:
    if not stacks:
        return [GapFrames((), ())]
    # The graph of a frame is that of the compile.
    owners = {
        (stack[-1].frame, id(stack[-1].code)): compile_id
        for stack, compile_id in zip(stacks, compiles, strict=True)
        if stack
    }
    described: dict[int, Code] = {}

    def lines(entries: Sequence[StackEntry]) -> tuple[CodeLine, ...]:
        return tuple(
            CodeLine(
                described.setdefault(id(entry.code), describe_code(entry.code)),
                entry.line,
                owners.get((entry.frame, id(entry.code)), ""),
            )
            for entry in entries
        )

    gaps = [GapFrames((), lines(stacks[0][:-1]))]
    for before, after in itertools.pairwise(stacks):
        common = _common(before, after)
        gaps.append(GapFrames(lines(after[:common]), lines(after[common:-1])))
    gaps.append(GapFrames(lines(_unfinished(stacks[-1])), ()))
    return gaps


def _common(before: Sequence[StackEntry], after: Sequence[StackEntry]) -> int:
    """Return how many frames are the same ones, although the memory of a frame is used again.

    Generated code runs from its start to its end. A frame that goes back is another one, and so is
    one that calls something else from the same instruction.
    """
    number = 0
    for old, new in zip(before, after, strict=False):
        goes_back = new.instruction < old.instruction and is_generated_by_dynamo(new.code)
        if (old.frame, old.code) != (new.frame, new.code) or goes_back:
            break
        number += 1
    while number and _calls_again(before[number - 1], after[number - 1]):
        number -= 1
    # The frame of the graph itself cannot have run throughout.
    return min(number, len(after) - 1)


def _calls_again(old: StackEntry, new: StackEntry) -> bool:
    return new.instruction == old.instruction and is_generated_by_dynamo(new.code)


def _unfinished(stack: Sequence[StackEntry]) -> list[StackEntry]:
    """Return the frames that had more to do than to return the result of their own rest."""
    return [
        entry
        for entry, callee in itertools.zip_longest(stack, stack[1:])
        if callee is None or not _continues(callee.code, entry.code)
    ]


def _continues(rest: CodeType, function: CodeType) -> bool:
    """Return whether `rest` is Dynamo's continuation of a function."""
    continued, own = describe_code(rest), describe_code(function)
    is_same = (continued.file, continued.qualified) == (own.file, own.qualified)
    return is_same and continued.resumed_at is not None

"""The user's lines of a group of recompiles: where the function was called, and what changed it.

bindings.py     what may have bound a name last, at a point of a function
source_file.py  one file of the program, as it was when the program ran
arguments.py    which argument of a call a parameter gets
bound.py        the line that last bound an argument, up the call stack
written.py      the line that last wrote an attribute, global, default or cell
program_files.py  all files of the user's program
observed.py     what a run in eager mode showed, and what it should watch
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from fullgraph.analysis.state import AnalysisState
from fullgraph.analysis.user_lines.arguments import slot_of
from fullgraph.analysis.user_lines.bound import BindingFinder, UnclearName
from fullgraph.analysis.user_lines.observed import (
    GroupMember,
    calls_by_compile,
    is_bound,
    is_written,
    observed_lines,
    watch_of_binding,
    watch_of_write,
)
from fullgraph.analysis.user_lines.program_files import ProgramFiles, find_program_files
from fullgraph.analysis.user_lines.source_file import SourceFile, open_source
from fullgraph.analysis.user_lines.written import WriterFinder
from fullgraph.model.events import Code, Compile, Frame, Recompile
from fullgraph.model.owners import Owners
from fullgraph.model.watches import Watch


class UserLines(NamedTuple):
    """The lines of a group; None for what is not found, never a guess."""

    called_at: Frame | None = None
    bound_at: Frame | None = None
    written_at: Frame | None = None
    # The other lines that call the function, in the order of their recompiles.
    also_called_at: tuple[Frame, ...] = ()


def user_lines(state: AnalysisState, members: Sequence[GroupMember]) -> UserLines:
    """Return the user's lines of a group of recompiles.

    It needs `Recompile.stack`, whose last frame is the call of the compiled function, or the start
    of the function itself, and `Recompile.code`; of each change its `place`, its `source` as Dynamo
    writes it (`L['x']`, `L['args'][0]`, `G['n']`), its `name`, and for an attribute its `holder`.
    If several lines call the function, the most frequent one is returned, the first of equals, and
    the lines that bound or wrote what its calls found.
    """
    sources = state.result(program_sources)
    observed = state.result(observed_lines)
    called = [(member, _called_at(state.owners, member.recompile)) for member in members]
    called_at = _most_frequent(frame for _, frame in called)
    chosen = [member for member, frame in called if frame == called_at]
    bound_at = _most_frequent(
        observed.line_of(member) or sources.binding(member).line
        for member in chosen
        if is_bound(member.change)
    )
    written_at = _most_frequent(
        observed.line_of(member) or sources.writer(member)
        for member in chosen
        if is_written(member.change)
    )
    if written_at is None:
        # The object that has the attribute may be new in each call.
        bound_at = bound_at or _most_frequent(
            sources.binding(member).line
            for member in chosen
            if member.change.place == "attribute" and member.change.source.startswith("L['")
        )
    also = dict.fromkeys(frame for _, frame in called if frame not in (None, called_at))
    return UserLines(called_at, bound_at, written_at, tuple(each for each in also if each))


def list_watches(state: AnalysisState) -> list[Watch]:
    """Return what a run in eager mode has to watch to tell the lines that the source does not."""
    sources = state.result(program_sources)
    calls = state.result(calls_by_compile)
    watches: dict[Watch, dict[tuple[int, int], None]] = {}
    for member in _all_members(state):
        call = calls.get((member.process, member.recompile.compile))
        if call is None:
            continue
        watch = None
        if is_written(member.change):
            watch = watch_of_write(member, call)
        elif is_bound(member.change):
            watch = watch_of_binding(member, sources.binding(member).unclear, call)
        if watch is not None:
            watches.setdefault(watch, {})[call.target, call.number] = None
    return [replace(watch, calls=tuple(calls)) for watch, calls in watches.items()]


def _all_members(state: AnalysisState) -> Iterator[GroupMember]:
    for process, event in state.events(Recompile):
        changes = [change for failure in event.failures for change in failure.changes]
        for change in {each.source: each for each in changes}.values():
            yield GroupMember(process, event, change)


class Binding(NamedTuple):
    """What the source tells about an argument: the line that bound it, or the name in question."""

    line: Frame | None = None
    unclear: UnclearName | None = None


class ProgramSources:
    """Answers from the files of the captured program; one that was changed since is not opened."""

    def __init__(self, state: AnalysisState) -> None:
        self._state = state
        self._files: dict[tuple[int, str], SourceFile | None] = {}
        self._programs: dict[int, ProgramFiles] = {}
        # Recompiles of one group have the same answers.
        self._bindings: dict[tuple[object, ...], Binding] = {}
        self._writers: dict[tuple[object, ...], Frame | None] = {}

    def binding(self, member: GroupMember) -> Binding:
        """Return what the source tells about the argument that a change is about."""
        process, recompile, change = member
        callers = callers_of(recompile)
        key = (process, callers, recompile.code, change.source)
        if key not in self._bindings:
            finder = BindingFinder(callers, lambda path: self._open(process, path))
            line = _find_binding(finder, recompile.code, change.source)
            self._bindings[key] = Binding(line, None if line is not None else finder.unclear)
        return self._bindings[key]

    def writer(self, member: GroupMember) -> Frame | None:
        """Return the only line that can have written the value that a change is about."""
        process, recompile, change = member
        callers = callers_of(recompile)
        key = (process, callers, recompile.code, change.source, change.kind, change.now)
        if key not in self._writers:
            program = self._program(process)
            finder = WriterFinder(program.files, callers)
            found = finder.find(recompile.code, change) if program.complete else None
            self._writers[key] = found
        return self._writers[key]

    def has_strings(self, values: Sequence[str], process: int) -> bool:
        """Return whether each value is a string that the user's program has as a literal."""
        known = {
            repr(node.value)
            for file in self._program(process).files
            for node in file.nodes
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
        }
        return bool(values) and set(values) <= known

    def _open(self, process: int, path: str) -> SourceFile | None:
        key = (process, path)
        if key not in self._files:
            self._files[key] = open_source(path, self._state.headers[process].started)
        return self._files[key]

    def _program(self, process: int) -> ProgramFiles:
        if process not in self._programs:
            self._programs[process] = find_program_files(
                _seen_files(self._state, process),
                [self._state.headers[process].directory],
                self._state.owners,
                lambda path: self._open(process, path),
            )
        return self._programs[process]


def _find_binding(finder: BindingFinder, code: Code, source: str) -> Frame | None:
    slot = slot_of(source)
    if slot is None:
        return None
    if code.resumed_at is not None:
        return finder.local(code, slot.parameter, code.resumed_at)
    return finder.argument(code, slot)


def _seen_files(state: AnalysisState, process: int) -> list[str]:
    compiled = [event.code.file for number, event in state.events(Compile) if number == process]
    stacks = [event.stack for number, event in state.events(Recompile) if number == process]
    above = [frame.file for stack in stacks if stack is not None for frame in stack.frames]
    return list(dict.fromkeys([*compiled, *above]))


def program_sources(state: AnalysisState) -> ProgramSources:
    """Return the source files of the program, each of which is read once."""
    return ProgramSources(state)


def callers_of(recompile: Recompile) -> tuple[Frame, ...]:
    """Return the frames that called a compiled function, the outermost first."""
    frames = recompile.stack.frames if recompile.stack is not None else ()
    code = recompile.code
    last = frames[-1] if frames else None
    if last is not None and (last.file, last.line, last.function) == (
        code.file,
        code.line,
        code.function,
    ):
        return frames[:-1]
    return frames


def _called_at(owners: Owners, recompile: Recompile) -> Frame | None:
    callers = callers_of(recompile)
    return owners.user_frame(callers) or owners.editable_frame(callers)


def _most_frequent(frames: Iterable[Frame | None]) -> Frame | None:
    counts = Counter(frame for frame in frames if frame is not None)
    return counts.most_common(1)[0][0] if counts else None

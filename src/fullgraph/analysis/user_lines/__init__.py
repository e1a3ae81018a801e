"""The user's lines of a group of recompiles: where the function was called, and what changed it.

bindings.py     what may have bound a name last, at a point of a function
source_file.py  one file of the program, as it was when the program ran
arguments.py    which argument of a call a parameter gets
bound.py        the line that last bound an argument, up the call stack
written.py      the line that last wrote an attribute, global, default or cell
program_files.py  all files of the user's program
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from fullgraph.analysis.state import AnalysisState
from fullgraph.analysis.user_lines.arguments import slot_of
from fullgraph.analysis.user_lines.bound import BindingFinder
from fullgraph.analysis.user_lines.program_files import ProgramFiles, find_program_files
from fullgraph.analysis.user_lines.source_file import SourceFile, open_source
from fullgraph.analysis.user_lines.written import WriterFinder
from fullgraph.model.events import Compile, Frame, GuardChange, Recompile
from fullgraph.model.owners import Owners


class GroupMember(NamedTuple):
    """A recompile of a group: its process, the event, and the change that put it in the group."""

    process: int
    recompile: Recompile
    change: GuardChange


class UserLines(NamedTuple):
    """The lines of a group; None for what is not found, never a guess."""

    called_at: Frame | None = None
    bound_at: Frame | None = None
    written_at: Frame | None = None


def user_lines(state: AnalysisState, members: Sequence[GroupMember]) -> UserLines:
    """Return the user's lines of a group of recompiles.

    It needs `Recompile.stack`, whose last frame is the call of the compiled function, or the start
    of the function itself, and `Recompile.code`; of each change its `place`, its `source` as Dynamo
    writes it (`L['x']`, `L['args'][0]`, `G['n']`), its `name`, and for an attribute its `holder`.
    If several lines caused the group, the most frequent one is returned, the first of equals.
    """
    sources = state.result(program_sources)
    called = [(member, _called_at(state.owners, member.recompile)) for member in members]
    called_at = _most_frequent(frame for _, frame in called)
    chosen = [member for member, frame in called if frame == called_at]
    bound_at = _most_frequent(_bound_at(sources, member) for member in chosen)
    written_at = _most_frequent(_written_at(sources, member) for member in members)
    return UserLines(called_at, bound_at, written_at)


class ProgramSources:
    """Opens the files of the captured program; a file that was changed since then is not opened."""

    def __init__(self, state: AnalysisState) -> None:
        self._state = state
        self._all: dict[int, ProgramFiles] = {}
        self._files: dict[tuple[int, str], SourceFile | None] = {}

    def open(self, process: int, path: str) -> SourceFile | None:
        """Return a file as it was when a process ran; None if that is not known."""
        key = (process, path)
        if key not in self._files:
            self._files[key] = open_source(path, self._state.headers[process].started)
        return self._files[key]

    def all_files(self, process: int) -> ProgramFiles:
        """Return all files of the user that a process may have run."""
        if process not in self._all:
            self._all[process] = find_program_files(
                _seen_files(self._state, process),
                [self._state.headers[process].directory],
                self._state.owners,
                lambda path: self.open(process, path),
            )
        return self._all[process]


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


def _bound_at(sources: ProgramSources, member: GroupMember) -> Frame | None:
    process, recompile, change = member
    slot = slot_of(change.source)
    if slot is None or change.place not in ("argument", "break"):
        return None
    finder = BindingFinder(callers_of(recompile), lambda path: sources.open(process, path))
    code = recompile.code
    if code.resumed_at is not None:
        return finder.local(code, slot.parameter, code.resumed_at)
    return finder.argument(code, slot)


def _written_at(sources: ProgramSources, member: GroupMember) -> Frame | None:
    process, recompile, change = member
    if change.place in ("argument", "break", "torch"):
        return None
    program = sources.all_files(process)
    if not program.complete:
        return None
    return WriterFinder(program.files, callers_of(recompile)).find(recompile.code, change)


def _most_frequent(frames: Iterable[Frame | None]) -> Frame | None:
    counts = Counter(frame for frame in frames if frame is not None)
    return counts.most_common(1)[0][0] if counts else None

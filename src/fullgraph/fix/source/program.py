"""The source files of the program, with the edits of a plan applied."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from fullgraph.fix.source.context import BreakContext, SourceFile
from fullgraph.fix.source.edits import FileEdits
from fullgraph.fix.source.text import read_source
from fullgraph.model.events import Frame
from fullgraph.model.report import RootCause

_OWN_FOLDER = f"{Path(__file__).parents[2]}/"


class ProgramSource:
    """Opens the program's files as a plan has changed them."""

    def __init__(self, files: Mapping[str, FileEdits]) -> None:
        self._edits = files
        self._opened: dict[str, SourceFile | None] = {}

    def open_file(self, path: str) -> SourceFile | None:
        """Return a file; None if it cannot be read."""
        if path not in self._opened:
            original = read_source(path)
            edits = self._edits[path].edits if path in self._edits else ()
            self._opened[path] = None if original is None else SourceFile(path, original, edits)
        return self._opened[path]

    def context(self, cause: RootCause) -> BreakContext:
        """Return a break that was met under this plan, with the source around it."""
        return BreakContext(replace(cause, stack=_frames_in_call(cause.stack)), self.open_file)

    def break_key(self, cause: RootCause) -> str:
        """Return what identifies a break across plans: its code, and its line in the original."""
        line = self.context(cause).line.strip()
        place = f"{cause.file} {cause.function} {self.original_line(cause)}"
        return f"{cause.id} {cause.type} {place} {line}"

    def carried(self, cause: RootCause, other: ProgramSource) -> RootCause | None:
        """Return a break of this program as one of another plan's program.

        None if the other plan changes its lines, or a line of a call that leads to it.
        """
        line = self._line_in(other, cause.file, cause.line, cause.end_line)
        inside = _frames_in_call(cause.stack)
        outside = cause.stack[: len(cause.stack) - len(inside)]
        stack = [self._frame_in(other, frame) for frame in inside]
        frames = [frame for frame in stack if frame is not None]
        if line is None or len(frames) < len(stack):
            return None
        shown = cause.shown
        if shown in inside:
            shown = frames[inside.index(shown)]
        end = None if cause.end_line is None else cause.end_line + line - cause.line
        return replace(cause, line=line, end_line=end, stack=(*outside, *frames), shown=shown)

    def _frame_in(self, other: ProgramSource, frame: Frame) -> Frame | None:
        line = self._line_in(other, frame.file, frame.line, frame.end_line)
        if line is None:
            return None
        end = None if frame.end_line is None else frame.end_line + line - frame.line
        return replace(frame, line=line, end_line=end)

    def _line_in(self, other: ProgramSource, path: str, line: int, end: int | None) -> int | None:
        if self._edits.get(path) == other._edits.get(path):
            return line
        mine, theirs = self.open_file(path), other.open_file(path)
        if mine is None or theirs is None:
            return line
        return mine.edited.lines_in(theirs.edited, line, max(end or line, line))

    def original_lines(self, cause: RootCause) -> frozenset[tuple[str, int]]:
        """Return the lines of the original files on the way to a break, its own included."""
        frames = _frames_in_call(cause.stack)
        places = [(cause.file, cause.line), *((frame.file, frame.line) for frame in frames)]
        return frozenset((path, self._original_line(path, line)) for path, line in places)

    def original_line(self, cause: RootCause) -> int:
        """Return the line of a break in the original file."""
        return self._original_line(cause.file, cause.line)

    def original_shown(self, cause: RootCause) -> Frame | None:
        """Return `BreakSite.shown` with its line in the original file."""
        shown = cause.shown
        if shown is None or shown not in _frames_in_call(cause.stack):
            return shown
        return replace(shown, line=self._original_line(shown.file, shown.line))

    def _original_line(self, path: str, line: int) -> int:
        file = self.open_file(path)
        return line if file is None else file.edited.original_line(line)


def _frames_in_call(stack: Sequence[Frame]) -> tuple[Frame, ...]:
    """Return the frames of a recorded call, which a plan may have changed.

    A trial makes the call itself. So the frames before those of this package are of code that runs
    since before the trial, and their lines are those of the original files.
    """
    own = [number for number, frame in enumerate(stack) if frame.file.startswith(_OWN_FOLDER)]
    return tuple(stack[own[-1] + 1 :] if own else stack)

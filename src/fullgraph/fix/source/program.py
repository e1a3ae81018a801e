"""The source files of the program, with the edits of a plan applied."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from fullgraph.fix.source.context import BreakContext, SourceFile
from fullgraph.fix.source.edits import FileEdits
from fullgraph.fix.source.text import read_source
from fullgraph.model.events import Frame
from fullgraph.model.report import RootCause


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
        return BreakContext(cause, self.open_file)

    def break_key(self, cause: RootCause) -> str:
        """Return what identifies a break across plans: its code instead of its line number."""
        line = self.context(cause).line.strip()
        return f"{cause.id} {cause.type} {cause.file} {cause.function} {line}"

    def original_line(self, cause: RootCause) -> int:
        """Return the line of a break in the original file."""
        return self._original_line(cause.file, cause.line)

    def original_shown(self, cause: RootCause) -> Frame | None:
        """Return `BreakSite.shown` with its line in the original file."""
        shown = cause.shown
        if shown is None:
            return None
        return replace(shown, line=self._original_line(shown.file, shown.line))

    def _original_line(self, path: str, line: int) -> int:
        file = self.open_file(path)
        return line if file is None else file.edited.original_line(line)

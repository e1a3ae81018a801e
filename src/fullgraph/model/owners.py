"""Who can fix a break: you, a library (which one), or torch."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from fullgraph.model.events import Frame
from fullgraph.model.report import TORCH, YOURS
from fullgraph.model.session import Header

PYTHON = "python"


class Owners:
    """Knows the folders of the processes that were captured, on whatever machine that was."""

    def __init__(self, headers: Sequence[Header]) -> None:
        self._torch = _folders(header.torch_folder for header in headers)
        self._packages = _folders(f for header in headers for f in header.package_folders)
        self._stdlib = _folders(f for header in headers for f in header.stdlib_folders)
        self._known: dict[str, str] = {}

    def of_file(self, file: str) -> str:
        if file not in self._known:
            self._known[file] = self._look_up(file)
        return self._known[file]

    def of_stack(self, frames: Sequence[Frame]) -> str:
        """The owner of the innermost frame that is not Python's own: nobody fixes `copy.py`."""
        for frame in reversed(frames):
            owner = self.of_file(frame.file)
            if owner != PYTHON:
                return owner
        return YOURS

    def your_line(self, frames: Sequence[Frame]) -> Frame | None:
        """The innermost line of the user's own that led here."""
        return next((f for f in reversed(frames) if self.of_file(f.file) == YOURS), None)

    def _look_up(self, file: str) -> str:
        if file.startswith("<frozen"):
            return PYTHON
        if file.startswith("<eval_with_key>"):
            # A graph that torch turned into code.
            return TORCH
        if any(file.startswith(folder) for folder in self._torch):
            return TORCH
        for folder in self._packages:
            if file.startswith(folder):
                name = file[len(folder) :].replace("\\", "/").split("/", 1)[0]
                return name.removesuffix(".py")
        # After the packages, because site-packages usually lies inside the standard library.
        if any(file.startswith(folder) for folder in self._stdlib):
            return PYTHON
        return YOURS


def _folders(paths: Iterable[str]) -> tuple[str, ...]:
    found = {f"{path}{os.sep}" for path in paths if path}
    return tuple(sorted(found, key=len, reverse=True))

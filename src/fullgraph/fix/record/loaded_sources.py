"""Notes the source files that a program runs, so that a later change of one is detected.

Fixes are made for the text that ran. `--apply` compares the files with these notes before it
writes.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable
from importlib.machinery import SourceFileLoader
from types import CodeType
from typing import Any

from fullgraph.model.owners import YOURS, this_process


def fingerprint(path: str) -> str:
    """Return what tells one text of a file from another; empty if the file cannot be read.

    It has the time of writing, because a text may be changed and changed back meanwhile.
    """
    try:
        with open(path, "rb") as file:
            digest = hashlib.sha256(file.read()).hexdigest()
            return f"{os.fstat(file.fileno()).st_mtime_ns} {digest}"
    except OSError:
        return ""


class LoadedSources:
    """The fingerprints of the user's files, by their real path, when they were first read."""

    def __init__(self) -> None:
        self.fingerprints: dict[str, str] = {}
        # In nanoseconds since the epoch.
        self.started = time.time_ns()

    def note(self, path: str) -> None:
        """Note a file that is about to be read."""
        real = os.path.realpath(path)
        if real not in self.fingerprints and this_process().owner_of(real) == YOURS:
            self.fingerprints[real] = fingerprint(real)

    def install(self) -> Callable[[], None]:
        """Note every module that is imported until the returned function is called."""
        original = SourceFileLoader.get_code

        def get_code(loader: Any, name: str) -> CodeType | None:
            self.note(loader.get_filename(name))
            return original(loader, name)

        def restore() -> None:
            SourceFileLoader.get_code = original  # type: ignore[method-assign]

        SourceFileLoader.get_code = get_code  # type: ignore[method-assign, assignment]
        return restore


def has_changed(path: str, fingerprints: dict[str, str], started: int) -> bool:
    """Return whether a file was changed after a program had loaded it.

    Of a file that was not imported but read and run, only the times are known.
    """
    noted = fingerprints.get(path)
    if noted is not None:
        return noted != fingerprint(path)
    status = os.stat(path)
    return max(status.st_mtime_ns, status.st_ctime_ns) > started

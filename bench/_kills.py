"""Kills a process at a chosen operation that changes a file, and says what is left.

    with Files(folder, count=3, lines=2) as files:
        for left in files.kill_at_each("apply"): ...

The process is a fork; its profile function counts the calls of functions that change a file, and
sends SIGKILL in front of the chosen one.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any, Literal, NamedTuple

from fullgraph.errors import FullgraphError
from fullgraph.fix.apply import Change, apply_changes, recover, undo
from fullgraph.folders import undo_folder

Stage = Literal["apply", "undo", "recover"]
_CHANGES_A_FILE = {
    "open", "write", "writelines", "flush", "fsync", "close", "rename", "replace", "unlink",
    "remove", "mkdir", "rmdir", "utime", "chmod", "chown", "setxattr", "truncate", "__exit__",
}  # fmt: skip
MODE = 0o754


class Left(NamedTuple):
    """What a killed process has left behind, and what became of it."""

    # The operation in front of which the process was killed; empty if it ended by itself.
    operation: str
    # The texts right after the kill, after recovering, and after `--undo` without recovering:
    # o for the old text of a file, n for the new one, ? for anything else.
    killed: str
    recovered: str
    undone: str
    # Other files in the folders, after recovering.
    extra: tuple[str, ...]
    problem: str = ""

    @property
    def is_right(self) -> bool:
        """Whether all files or none are new after recovering, and `--undo` works."""
        all_or_none = len(set(self.recovered)) == 1 and "?" not in self.killed + self.recovered
        return all_or_none and set(self.undone) == {"o"} and not self.extra and not self.problem


class Files:
    """Some files that are written and reverted, and an undo folder of their own."""

    def __init__(self, folder: Path, *, count: int, lines: int) -> None:
        self._folder = folder / "files"
        self._folder.mkdir()
        self._home = folder / "home"
        os.environ["FULLGRAPH_HOME"] = str(self._home)
        self._changes = [
            Change(str(self._folder / f"m{n}.py"), f"# old {n}\n" * lines, f"# new {n}\n" * lines)
            for n in range(count)
        ]

    def kill_at_each(self, stage: Stage) -> Iterator[Left]:
        """Kill at each operation of a stage that changes a file, until the stage gets through."""
        for number in range(1, 1000):
            left = self._after_kill(stage, partial(_kill_in_front_of, number))
            if not left.operation:
                return
            yield left

    def kill_at_random(self, times: int, seed: int) -> Iterator[Left]:
        """Kill a process that writes and reverts again and again, at random moments."""
        moments = random.Random(seed)
        for _ in range(times):
            seconds = moments.uniform(0, 0.2)
            yield self._after_kill("apply", lambda: None, seconds)

    def _after_kill(
        self, stage: Stage, prepare: Callable[[], None], seconds: float | None = None
    ) -> Left:
        """Return what is left, once after recovering and once after `--undo` alone."""
        found = []
        for recovers in (True, False):
            self._reset(stage)
            reader, writer = os.pipe()
            child = os.fork()
            if not child:
                os.dup2(writer, 2)
                self._run(stage, prepare, repeats=seconds is not None)
            os.close(writer)
            if seconds is not None:
                time.sleep(seconds)
                os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            with os.fdopen(reader) as pipe:
                operation = pipe.read().strip()
            found.append((operation, *self._settle(recovers)))
        (operation, killed, recovered, extra, problem), (_, _, undone, _, other) = found
        return Left(operation, killed, recovered, undone, extra, problem or other)

    def _reset(self, stage: Stage) -> None:
        for file in self._home.glob("fixes/*"):
            file.unlink()
        for change in self._changes:
            Path(change.path).write_text(change.before)
            Path(change.path).chmod(MODE)
        if stage != "apply":
            apply_changes(self._changes, force=True)
        if stage == "recover":
            # As if undoing had been killed when one of the files was written.
            done = next(undo_folder().glob("*.json"))
            done.rename(done.with_suffix(".pending"))
            Path(self._changes[0].path).write_text(self._changes[0].before)

    def _run(self, stage: Stage, prepare: Callable[[], None], *, repeats: bool) -> None:
        """Run a stage in the fork, and end the fork."""
        try:
            prepare()
            while True:
                if stage == "apply":
                    apply_changes(self._changes, force=True)
                if stage == "undo" or repeats:
                    undo(force=False, script=self._changes[0].path)
                if stage == "recover":
                    recover()
                if not repeats:
                    break
        finally:
            sys.setprofile(None)
            os._exit(0)

    def _settle(self, recovers: bool) -> tuple[str, str, tuple[str, ...], str]:
        """Recover, or revert what was written; return the texts before and after that."""
        killed = self._texts()
        problem = ""
        try:
            if recovers:
                recover()
                after = self._texts()
                extra = self._extra()
                if after[0] == "n":
                    undo(force=False, script=self._changes[0].path)
            elif "n" not in killed:
                # There may be nothing to revert.
                recover()
            else:
                undo(force=False, script=self._changes[0].path)
        except FullgraphError as error:
            problem = str(error)
        if not recovers or problem:
            after, extra = self._texts(), self._extra()
        if set(self._texts()) != {"o"}:
            problem = problem or f"--undo left {self._texts()}"
        modes = {Path(each.path).stat().st_mode & 0o7777 for each in self._changes}
        return killed, after, extra, problem or ("" if modes == {MODE} else f"modes {modes}")

    def _texts(self) -> str:
        return "".join(
            {each.before: "o", each.after: "n"}.get(Path(each.path).read_text(), "?")
            for each in self._changes
        )

    def _extra(self) -> tuple[str, ...]:
        known = {Path(each.path).name for each in self._changes}
        names = [each.name for each in self._folder.iterdir() if each.name not in known]
        kept = [each for each in undo_folder().glob("*") if each.name != "lock"]
        return (*names, *(each.name for each in kept if each.suffix != ".json"))


def _kill_in_front_of(number: int) -> None:
    """Kill this process in front of the operation of a number, counted from now on."""
    seen = 0

    def count(frame: FrameType, event: str, called: Any) -> None:
        nonlocal seen
        if event == "c_call" and getattr(called, "__name__", "") in _CHANGES_A_FILE:
            seen += 1
            if seen == number:
                os.write(2, called.__name__.encode())
                os.kill(os.getpid(), signal.SIGKILL)

    sys.setprofile(count)

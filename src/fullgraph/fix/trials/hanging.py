"""Notices processes that hang: they use no CPU time, and do not wait for it. Imports no torch."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path

# A process that has used no CPU time for so long is ended.
IDLE_SECONDS = 20.0
# A process that still runs after so long is ended, whatever it does.
FAR_SECONDS = 1800.0
_LOOK_SECONDS = 1.0
_IDLE = f"the trial was ended because it used no CPU time for {IDLE_SECONDS:.0f} s: it hangs"
_FAR = f"the trial was ended because it took more than {FAR_SECONDS / 60:.0f} min"
_RUNNABLE = "R"
_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100


class HangingWatch:
    """Watches a process and those that it starts. How busy the machine is does not matter."""

    def __init__(self, process: int) -> None:
        self._process = process
        self._started = self._looked = self._active = time.monotonic()
        self._used: float | None = 0.0

    def why_to_end(self) -> str:
        """Return why the process has to be ended; empty if it may go on."""
        now = time.monotonic()
        if now - self._started > FAR_SECONDS:
            return _FAR
        if now - self._looked > _LOOK_SECONDS:
            self._looked = now
            used, is_waiting_for_cpu = _use_of_tree(self._process)
            if used is None or used != self._used or is_waiting_for_cpu:
                self._active, self._used = now, used
        return _IDLE if now - self._active > IDLE_SECONDS else ""


def _use_of_tree(root: int) -> tuple[float | None, bool]:
    """Return the CPU time of a process and its descendants, and whether one of them could use more.

    On a very busy machine, a process may get no CPU time for long. The time is None if it cannot be
    told.
    """
    parents: dict[int, int] = {}
    seconds: dict[int, float] = {}
    runnable: set[int] = set()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError, ValueError, IndexError):
            # The name of the program, in parentheses, may contain spaces.
            values = stat.read_text().rpartition(")")[2].split()
            process = int(stat.parent.name)
            parents[process] = int(values[1])
            seconds[process] = sum(map(int, values[11:15])) / _TICKS_PER_SECOND
            if values[0] == _RUNNABLE:
                runnable.add(process)
    if root not in seconds:
        return None, False
    tree = {process for process in seconds if _is_below(process, root, parents)}
    return sum(seconds[process] for process in tree), not tree.isdisjoint(runnable)


def _is_below(process: int, root: int, parents: dict[int, int]) -> bool:
    while process and process != root:
        process = parents.get(process, 0)
    return process == root

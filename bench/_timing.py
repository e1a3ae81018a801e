"""Ratios measured side by side: the two sides take turns, so that a slow moment hits both."""

from __future__ import annotations

import os
import statistics
import subprocess
import time
from collections.abc import Callable, Sequence
from typing import IO


def take_turns(rounds: int, *sides: Callable[[], float]) -> list[float]:
    """The median of each side's readings."""
    readings: list[list[float]] = [[] for _ in sides]
    for _ in range(rounds):
        for side, values in zip(sides, readings, strict=True):
            values.append(side())
    return [statistics.median(values) for values in readings]


def seconds_of(command: Sequence[str]) -> float:
    started = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - started


def cpu_seconds(command: Sequence[str], folder: str, output: IO[str]) -> float:
    """Run a command; return the CPU time of it and of the children that have ended."""
    process = subprocess.Popen(command, cwd=folder, stdout=output, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return used.ru_utime + used.ru_stime


def verdict(name: str, ratio: float, most: float) -> bool:
    print(verdict_line(name, ratio, most))
    return ratio <= most


def verdict_line(name: str, ratio: float, most: float) -> str:
    return f"  {name:56} {ratio:5.2f}  (at most {most})  {'ok' if ratio <= most else 'MISSED'}"

"""The protocol between the search and whatever runs its trials, and the files that they exchange.

A trial has one part per process that it runs in. Each part writes a result and outcomes to a
folder, the judge adds a verdict, and `read_result` merges them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

from msgspec import Struct, json
from msgspec.structs import replace

from fullgraph.fix.model import TrialRequest, TrialResult, Verdict
from fullgraph.fix.trials.merge import merged_results, with_verdict

# Each has the memory of the program, as far as it writes to it.
_SIDE_BY_SIDE = 2
_REPEATED = ", time "
# The number under which the outcomes of the original program are kept.
_REFERENCE = 0


class TrialRunner(Protocol):
    """Runs trials side by side, as `concurrent.futures` does."""

    def submit(self, request: TrialRequest) -> int:
        """Start a trial; return the number that `result` takes."""
        ...

    def result(self, number: int) -> TrialResult:
        """Wait for a trial and return its result; one that takes too long is ended."""
        ...


class Part(Struct, frozen=True):
    """The calls that one process makes for a trial, and where it writes what they did."""

    folder: str
    # Of the request.
    number: int
    # The number of the recorded call; 0 for calls without a checkpoint.
    call: int = 0
    # Whether the calls are made with varied inputs as well.
    varies: bool = True

    def path(self, name: str) -> Path:
        """Return a file of this part."""
        return Path(self.folder) / f"{self.number}-{self.call}-{name}"


def repeated_name(name: str, time: int) -> str:
    """Return the name of a recorded call that is made again."""
    return f"{name}{_REPEATED}{time}"


def is_repeated(name: str) -> bool:
    """Return whether a name is that of a recorded call that is made again."""
    return _REPEATED in name


def is_recorded(name: str) -> bool:
    """Return whether a name is that of a recorded call, also if it is made again."""
    return ", " not in name.removesuffix(_REPEATED + name.rpartition(_REPEATED)[2])


def run_trial(runner: TrialRunner, request: TrialRequest) -> TrialResult:
    """Run one trial and wait for it."""
    return runner.result(runner.submit(request))


def run_trials(runner: TrialRunner, requests: Iterable[TrialRequest]) -> list[TrialResult]:
    """Run independent trials, some of them side by side, and return their results in order."""
    waiting: deque[int] = deque()
    results = []
    for request in requests:
        if len(waiting) >= _SIDE_BY_SIDE:
            results.append(runner.result(waiting.popleft()))
        waiting.append(runner.submit(request))
    return results + [runner.result(number) for number in waiting]


def reference_of(part: Part) -> Part:
    """Return the part with the outcomes of the original program for the same calls."""
    return replace(part, number=_REFERENCE)


def outcome_file(part: Part, mode: str) -> Path:
    """Return the file that the outcomes of a part are written to."""
    return part.path(f"{mode}.pt")


def result_file(part: Part) -> Path:
    """Return the file that a part writes its result to."""
    return part.path("result.json")


def verdict_file(part: Part) -> Path:
    """Return the file that the judge writes its verdict to."""
    return part.path("verdict.json")


def read_result(parts: list[Part]) -> TrialResult:
    """Return the result of a trial whose parts have ended; one without a result has crashed."""
    return merged_results([result_of(part) for part in parts])


def result_of(part: Part) -> TrialResult:
    """Return the result of one part of a trial."""
    path = result_file(part)
    if not path.exists() or not path.stat().st_size:
        return TrialResult(part.number, None, error="the trial crashed")
    result = json.decode(path.read_bytes(), type=TrialResult)
    verdict = verdict_file(part)
    if result.error or not verdict.exists():
        return result
    return with_verdict(result, json.decode(verdict.read_bytes(), type=Verdict))


def write_error(part: Part, error: str) -> None:
    """Write the result of a part that was ended from outside."""
    result_file(part).write_bytes(json.encode(TrialResult(part.number, None, error=error)))

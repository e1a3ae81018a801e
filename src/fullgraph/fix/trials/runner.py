"""The protocol between the search and whatever runs its trials."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from msgspec import json

from fullgraph.fix.model import TrialRequest, TrialResult


class TrialRunner(Protocol):
    """Runs trials side by side, as `concurrent.futures` does."""

    @property
    def reruns_program(self) -> bool:
        """Whether each trial runs the program again; it must be deterministic then."""
        ...

    def submit(self, request: TrialRequest) -> int:
        """Start a trial; return the number that `result` takes."""
        ...

    def result(self, number: int) -> TrialResult:
        """Wait for a trial and return its result; one that takes too long is ended."""
        ...


def run_trial(runner: TrialRunner, request: TrialRequest) -> TrialResult:
    """Run one trial and wait for it."""
    return runner.result(runner.submit(request))


def result_file(folder: Path, number: int) -> Path:
    """Return the file that a trial writes its result to."""
    return folder / f"result-{number}.json"


def request_file(folder: Path, number: int) -> Path:
    """Return the file from which a program that is run again reads its request."""
    return folder / f"request-{number}.json"


def read_result(folder: Path, number: int) -> TrialResult:
    """Return the result of a trial that has ended; one without a result has crashed."""
    path = result_file(folder, number)
    if not path.exists() or not path.stat().st_size:
        return TrialResult(number, None, error="the trial crashed or took too long")
    return json.decode(path.read_bytes(), type=TrialResult)

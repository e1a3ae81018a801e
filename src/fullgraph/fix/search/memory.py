"""Answers equal requests from memory: trials of a deterministic program have the same result."""

from __future__ import annotations

from msgspec import json
from msgspec.structs import replace

from fullgraph.fix.model import TrialRequest, TrialResult
from fullgraph.fix.search.budget import Budget
from fullgraph.fix.trials.runner import TrialRunner

# What these measure is not the same each time.
_MEASUREMENTS = ("timing", "variants")


class RememberingRunner:
    """Runs each trial once, and counts the CPU time of those that ran."""

    def __init__(self, runner: TrialRunner, budget: Budget | None = None) -> None:
        self._runner = runner
        self._budget = budget or Budget()
        self._numbers: dict[bytes, int] = {}
        self._results: dict[int, TrialResult] = {}

    def submit(self, request: TrialRequest) -> int:
        """Start a trial, unless an equal one was started before."""
        if request.task in _MEASUREMENTS:
            return self._runner.submit(request)
        key = _key(request)
        if key not in self._numbers:
            self._numbers[key] = self._runner.submit(request)
        return self._numbers[key]

    def result(self, number: int) -> TrialResult:
        """Return the result of a trial; wait for it the first time."""
        if number not in self._results:
            result = self._results[number] = self._runner.result(number)
            self._budget.spend(result.cpu_seconds)
        return self._results[number]

    def remember(self, request: TrialRequest, result: TrialResult) -> None:
        """Answer a request with a known result: it differs only in what has no effect."""
        if result.number in self._results:
            self._numbers.setdefault(_key(request), result.number)


def _key(request: TrialRequest) -> bytes:
    """Return what decides the result of a request; a time limit does not."""
    return json.encode(replace(request, number=0, seconds=0.0), order="deterministic")

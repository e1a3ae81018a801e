"""How a worker times the calls of a choice."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from fullgraph.where.facts import CallPlan
from fullgraph.where.worker import Worker


class _Timed(Worker):
    """A worker whose calls take the given seconds; the last one repeats."""

    def __init__(self, seconds: Iterable[float]) -> None:
        self.plan = CallPlan(raises=(False,), backward=(False,), mutates=False)
        self.left = list(seconds)
        self.made = 0

    def _run_calls(self) -> float:
        self.made += 1
        return self.left.pop(0) if len(self.left) > 1 else self.left[0]


@pytest.mark.parametrize(
    ("seconds", "expected", "repetitions"),
    [
        ([3e-5], 3e-5, 30),
        # A busy machine delays the first calls of a process that has been waiting.
        ([0.03, 0.03, 0.008, 3e-5], 3e-5, 5),
        ([0.008, 0.006], 0.006, 5),
        ([0.5, 0.4], 0.4, 1),
    ],
)
def test_a_delay_does_not_decide_how_long_a_call_takes(
    seconds: list[float], expected: float, repetitions: int
) -> None:
    worker = _Timed(seconds)
    assert worker.time_round().seconds == expected
    assert worker.made == 1 + repetitions

"""Which processes hang: those that use no CPU time although they could."""

from __future__ import annotations

import os

import pytest

from fullgraph.fix.trials import hanging
from fullgraph.fix.trials.hanging import FAR_SECONDS, IDLE_SECONDS, HangingWatch


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(hanging, "time", clock)
    return clock


def why_to_end(clock: Clock, seconds: float) -> str:
    """Return what a watch of this process says that looks every five seconds."""
    watch = HangingWatch(os.getpid())
    found = ""
    while clock.now < seconds and not found:
        clock.now += 5.0
        found = watch.why_to_end()
    return found


@pytest.mark.parametrize(
    ("is_waiting_for_cpu", "expected"), [(False, "it used no CPU time"), (True, "")]
)
def test_a_process_hangs_if_it_neither_uses_nor_wants_cpu_time(
    clock: Clock, monkeypatch: pytest.MonkeyPatch, is_waiting_for_cpu: bool, expected: str
) -> None:
    monkeypatch.setattr(hanging, "_use_of_tree", lambda _: (3.0, is_waiting_for_cpu))
    assert expected in why_to_end(clock, 4 * IDLE_SECONDS)
    assert bool(expected) == (clock.now < 4 * IDLE_SECONDS)


def test_a_process_that_never_ends_is_ended(clock: Clock) -> None:
    assert "took more than 30 min" in why_to_end(clock, 2 * FAR_SECONDS)


def test_this_process_is_running_right_now() -> None:
    used, is_runnable = hanging._use_of_tree(os.getpid())
    assert used
    assert is_runnable
    assert hanging._use_of_tree(2**22 + 1) == (None, False)

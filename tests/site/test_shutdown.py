"""A site is not left in the middle of a write when somebody ends the command."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest

from fullgraph.site.shutdown import Stopper, StopRequested


@pytest.fixture
def stopper() -> Iterator[Stopper]:
    signals = (signal.SIGINT, signal.SIGTERM)
    before = [signal.getsignal(number) for number in signals]
    yield Stopper()
    for number, handler in zip(signals, before, strict=True):
        signal.signal(number, handler)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_writing_stops_at_the_next_safe_place(
    stopper: Stopper, number: signal.Signals
) -> None:
    written = []
    os.kill(os.getpid(), number)
    written.append("the rest of the files")
    with pytest.raises(StopRequested):
        stopper.wait(0)
    assert written


def test_a_signal_while_waiting_stops_at_once(stopper: Stopper) -> None:
    with pytest.raises(StopRequested), stopper.interruptible():
        os.kill(os.getpid(), signal.SIGTERM)

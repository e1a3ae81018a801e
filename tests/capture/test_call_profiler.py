"""Profilers of the program and of `--cost`: torch crashes if two of them run."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
import torch

from fullgraph.capture.call_profiler import ProfiledCall, Profilers, combined
from fullgraph.model.events import Piece, Profile

profile = torch.autograd.profiler.profile


@pytest.fixture
def profilers(monkeypatch: pytest.MonkeyPatch) -> Iterator[Profilers]:
    # Both are put back after the test.
    monkeypatch.setattr(profile, "_prepare_trace", profile._prepare_trace)
    monkeypatch.setattr(profile, "__exit__", profile.__exit__)
    profilers = Profilers()
    profilers.watch()
    return profilers


def test_only_one_thread_profiles_at_a_time(profilers: Profilers) -> None:
    first = profilers.start()
    assert first is not None
    started = []
    thread = threading.Thread(target=lambda: started.append(profilers.start()))
    thread.start()
    thread.join()
    assert started == [None]
    first.stop()
    second = profilers.start()
    assert second is not None
    second.stop()


def test_a_profiler_of_the_program_that_is_only_ready_is_left_alone(profilers: Profilers) -> None:
    # A schedule has steps in which the profiler is ready and has not started.
    program = torch.profiler.profile(
        activities=[torch.profiler.ProfilerActivity.CPU],
        schedule=torch.profiler.schedule(wait=0, warmup=1, active=1, repeat=1),
    )
    with program:
        assert profilers.start() is None
        program.step()
        assert profilers.start() is None
    own = profilers.start()
    assert own is not None
    own.stop()


def test_a_profiler_that_starts_in_a_profiled_call_gets_its_events(profilers: Profilers) -> None:
    own = profilers.start()
    assert own is not None
    with profile() as program:
        torch.ones(3).sin()
    own.stop()
    assert any(event.name == "aten::sin" for event in program.function_events)
    assert own.read((), {}, None) is None


def test_the_time_of_a_call_contains_all_of_its_operators(profilers: Profilers) -> None:
    own = profilers.start()
    assert own is not None
    x = torch.ones(100, 100)
    for _ in range(3):
        x = x @ x
    own.stop()
    call = own.read((), {}, None)
    assert call is not None
    ((piece,),) = (gap.pieces for gap in call.gaps)
    assert piece.operators == 4
    assert piece.seconds >= piece.operator_seconds > 0


def test_one_disturbed_call_does_not_change_what_a_gap_did() -> None:
    calls = [
        ProfiledCall(
            [Profile(lookup, (Piece("0/0", seconds, operators=2), Piece("1/0", 0.2)))], None
        )
        for lookup, seconds in ((0.1, 1.0), (0.3, 40.0), (0.2, 1.1))
    ]
    (gap,) = combined(calls).gaps
    assert gap.lookup_seconds == 0.1
    assert [(each.compile, each.seconds, each.operators) for each in gap.pieces] == [
        ("0/0", 1.1, 2),
        ("1/0", 0.2, 0),
    ]

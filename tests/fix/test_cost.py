"""`fullgraph fix --cost`: what each fix is worth, measured by leaving it out."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

import pytest
from msgspec import Struct

import fullgraph.fix.cost
from fullgraph.fix.cost import FixPricer, estimate_prices
from fullgraph.fix.model import (
    NO_PLAN,
    AcceptedFix,
    Candidate,
    FixPlan,
    RemainingCause,
    SearchResult,
    TrialRequest,
    TrialResult,
    VariantTimes,
)
from fullgraph.fix.report.model import FixCost, FixPrice
from fullgraph.fix.trials.runner import run_trial
from fullgraph.model.cost import CausePrice, Estimate
from fullgraph.model.session import Session
from fullgraph.render.fix._cost import cost_lines
from fullgraph.terminal import Terminal
from tests.analysis import whole_reports
from tests.fix.causes import root_cause
from tests.fix.run_case import runner_for, search

# The milliseconds that a call takes longer without each fix.
WORTH = {"slow": 5.0, "quick": 1.0, "free": 0.0}
GRAPH = 2.0


def fix_of(name: str, line: int) -> AcceptedFix:
    candidate = Candidate(settings={name: True}, fixer=name, kind="setting", safety="exact")
    return AcceptedFix(candidate, root_cause(line=line), f"{name} key", line)


FIXES = (fix_of("quick", 3), fix_of("slow", 5), fix_of("free", 7))
LEFT = RemainingCause(root_cause(line=9), 9, (), ())


def result_with(*fixes: AcceptedFix) -> SearchResult:
    trial = TrialResult(1, None)
    return SearchResult(trial, trial, {}, fixes, (LEFT,), out_of_time=False)


class FakeRunner(Struct):
    """Answers with the times that a plan deserves, with some noise."""

    noise: float = 0.0
    requests: list[TrialRequest] = []

    def submit(self, request: TrialRequest) -> int:
        self.requests.append(request)
        return len(self.requests) - 1

    def result(self, number: int) -> TrialResult:
        plans = self.requests[number].variants
        return TrialResult(number, None, variants=tuple(map(self._times, plans)))

    def _times(self, plan: FixPlan) -> VariantTimes:
        missing = sum(ms for name, ms in WORTH.items() if name not in plan.settings)
        # Variants with one fix more or less are slow in other rounds.
        period = 1 + len(plan.settings) % 2
        steady = tuple(
            (GRAPH + missing) / 1000 + self.noise * (-1) ** (n // period) for n in range(20)
        )
        return VariantTimes(first=1.0 + missing, steady=steady)


@pytest.fixture
def estimates(monkeypatch: pytest.MonkeyPatch) -> None:
    def price(share: float) -> CausePrice:
        estimate = Estimate(share, share, share)
        return CausePrice("", "", estimate, None, 0.0, share, None, None, None, 1, 0.0, False)

    type_ = root_cause().type
    prices = {("program.py", type_, line): price(s) for line, s in {3: 0.1, 5: 0.6, 9: 0.2}.items()}
    monkeypatch.setattr(fullgraph.fix.cost, "estimate_prices", lambda *_: prices)


def priced(runner: FakeRunner, seconds: float = 1000.0) -> FixCost:
    return FixPricer(runner, result_with(*FIXES), time.monotonic() + seconds).price(["program.py"])


@pytest.mark.usefixtures("estimates")
def test_the_price_is_the_difference_between_all_fixes_and_all_but_one() -> None:
    cost = priced(FakeRunner())
    assert cost.original is not None
    assert cost.original.seconds == pytest.approx(0.008)
    assert cost.fixed is not None
    assert cost.fixed.seconds == pytest.approx(0.002)
    slow, quick, free, left = cost.prices
    assert [price.line for price in cost.prices] == [5, 3, 7, 9]
    for price, ms in ((slow, 5.0), (quick, 1.0), (free, 0.0)):
        assert price.left_out is not None
        assert price.left_out.seconds == pytest.approx(ms / 1000)
        assert price.alone is not None
        assert price.alone.seconds == pytest.approx(ms / 1000)
        assert price.first_call == pytest.approx(ms)
    assert slow.fix == 1
    assert left.fix is None
    assert left.left_out is None
    assert left.estimated is not None


@pytest.mark.usefixtures("estimates")
def test_a_small_difference_in_noise_cannot_be_told() -> None:
    cost = priced(FakeRunner(noise=0.0005))
    by_line = {price.line: price for price in cost.prices}
    assert by_line[7].left_out is None
    assert "noise" in by_line[7].reason
    assert by_line[5].left_out is not None
    assert "cannot be told" in " ".join(" ".join(cost_lines(cost, Terminal())).split())


@pytest.mark.usefixtures("estimates")
def test_what_is_not_measured_in_time_keeps_its_estimated_price() -> None:
    cost = priced(FakeRunner(), seconds=-1.0)
    assert cost.original is None
    assert cost.reason
    assert all(price.left_out is None and "no time" in price.reason for price in cost.prices[:3])
    text = " ".join(" ".join(cost_lines(cost, Terminal())).split())
    assert "fix 2 program.py:5 600 ms (600 ms to 600 ms), estimated: there was no time" in text


@pytest.mark.usefixtures("estimates")
def test_only_as_many_fixes_are_measured_as_there_is_time_for() -> None:
    runner = FakeRunner()
    # A variant counts as one second at least, and two of three seconds are for all of them.
    cost = priced(runner, seconds=6.5)
    assert [price.left_out is not None for price in cost.prices] == [True, False, False, False]
    assert len(runner.requests[-1].variants) == 4


def test_variants_do_not_share_compiled_code_or_skipped_frames(tmp_path: Path) -> None:
    source = """
import torch

def f(x):
    for _ in range(2):
        x = x.sin()
        torch._dynamo.graph_break()
    return x.cos()

def inputs():
    return (torch.randn(4),)
"""
    result = search(source, tmp_path)
    assert len(result.fixes) == 1
    with runner_for(source, tmp_path) as runner:
        plans = (NO_PLAN, result.plan, NO_PLAN)
        request = TrialRequest("variants", result.plan, variants=plans, seconds=120)
        trial = run_trial(runner, request)
    assert trial.error == ""
    assert len(trial.variants) == 3
    for variant in trial.variants:
        assert variant.steady
        # Had they shared code, a variant would have compiled again after another one ran.
        assert None not in variant.steady


def test_a_value_guard_says_what_it_costs_per_call(tmp_path: Path) -> None:
    source = """
import torch

def f(x, lengths):
    return torch.stack([part.sum(0) for part in x.split(lengths.tolist())])

def inputs():
    return torch.randn(6, 4), torch.tensor([1, 2, 3])
"""
    with runner_for(source, tmp_path) as runner:
        run_trial(runner, TrialRequest("reference"))
        trial = run_trial(runner, TrialRequest("trial", FixPlan(guards=True)))
    assert trial.guards
    # It compares a few numbers, which takes less than a hundredth of a second on any machine.
    assert all(0 < guard.microseconds < 10_000 for guard in trial.guards)


def test_a_price_says_where_it_comes_from() -> None:
    price = FixPrice(
        "program.py", 3, "a break", 0, Estimate(0.005, 0.004, 0.006), None, 0.25, None, ""
    )
    estimate = Estimate(0.01, 0.01, 0.01)
    cost = FixCost(estimate, estimate, 1.0, 0.5, (price,), "")
    text = " ".join(" ".join(cost_lines(cost, Terminal())).split())
    assert "fix 1 program.py:3 5.00 ms (4.00 ms to 6.00 ms) if it alone is not fixed" in text
    assert "without it, the first call takes 250 ms longer" in text


def test_without_a_fix_there_is_no_call_with_all_fixes() -> None:
    price = FixPrice("program.py", 3, "a break", None, None, None, None, None, "it has no fix")
    estimate = Estimate(0.01, 0.01, 0.01)
    cost = FixCost(estimate, estimate, 1.0, 0.9, (price,), "")
    text = " ".join(" ".join(cost_lines(cost, Terminal())).split())
    assert "remaining program.py:3 a break cannot be told: it has no fix" in text
    assert text.endswith("a call takes 10.0 ms (10.0 ms to 10.0 ms); the first call 1 s")


def test_estimates_are_found_by_the_place_of_the_break(monkeypatch: pytest.MonkeyPatch) -> None:
    def stored(sessions: list[Session]) -> dict[tuple[str, str, int], float | None]:
        monkeypatch.setattr(fullgraph.fix.cost, "load_all", lambda _: sessions)
        found = estimate_prices(["program.py"], time.monotonic() + 60)
        return {place: each.price and each.price.seconds for place, each in found.items()}

    monkeypatch.setattr(subprocess, "run", lambda *_, **__: None)
    assert stored(whole_reports.cost()) == {
        (whole_reports.MODEL, "First", 11): pytest.approx(0.0115),
        (whole_reports.MODEL, "Skips", 42): pytest.approx(0.006),
        (whole_reports.MODEL, "Second", 13): pytest.approx(0.002),
        (whole_reports.LAYERS, "Never reached", 6): None,
    }
    # A program that was stopped has measured nothing.
    assert stored(whole_reports.session()) == {}


def test_there_is_no_estimate_of_a_program_that_takes_too_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def stop(*_: object, timeout: float, **__: object) -> None:
        raise subprocess.TimeoutExpired("python", timeout)

    monkeypatch.setattr(subprocess, "run", stop)
    assert estimate_prices(["program.py"], time.monotonic() + 60) == {}
    monkeypatch.setattr(fullgraph.fix.cost, "python_command", None)
    assert estimate_prices(["program.py"], time.monotonic() - 1) == {}

"""`fullgraph run --cost`: which root cause the time and the operators around graphs belong to."""

from __future__ import annotations

from pathlib import Path

import pytest

from fullgraph.capture.compiled_calls import CompiledCall, Target
from fullgraph.capture.measures.cost import CostMeasure
from fullgraph.model.cost import CausePrice, CostReport
from fullgraph.model.events import Code, Cost, Event
from fullgraph.model.report import Report, load_report
from tests.conftest import PROGRAMS
from tests.warm_cli import WarmCli

PROGRAM = PROGRAMS / "cost.py"


def run(folder: Path, calls: int) -> tuple[Report, CostReport]:
    cli = WarmCli(folder)
    options = ("run", "--cost", "--format", "json", "-o", "report.json")
    ran = cli(*options, str(PROGRAM), str(calls))
    assert ran.returncode == 0, ran.stderr
    # The profiler says nothing on the streams of the program; torch 2.15 itself does.
    assert "profiler" not in ran.stderr
    report = load_report(folder / "report.json")
    assert report.problems == ()
    assert report.cost is not None
    return report, report.cost


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> tuple[Report, CostReport]:
    return run(tmp_path_factory.mktemp("cost"), 12)


def price_of(measured: tuple[Report, CostReport], function: str) -> CausePrice:
    """Return the price of the break at the call of a function."""
    report, cost = measured
    keys = {
        cause.key
        for cause in report.causes
        if any(function in line.text for line in cause.excerpt if line.number == cause.line)
    }
    (price,) = (each for each in cost.causes if each.site in keys)
    return price


def test_the_parts_of_a_call_add_up(measured: tuple[Report, CostReport]) -> None:
    (call,) = measured[1].calls
    assert call.reason == ""
    assert call.call is not None
    assert call.shares is not None
    shares = call.shares
    parts = (shares.graphs, shares.between, shares.guards, shares.skipped, shares.unexplained)
    assert sum(parts) == pytest.approx(call.call.seconds)
    assert all(part >= 0 for part in parts)
    assert shares.between > 0
    assert shares.skipped > 0


def test_calls_that_warm_up_or_are_looked_at_are_not_timed(
    measured: tuple[Report, CostReport],
) -> None:
    (call,) = measured[1].calls
    # The first call compiles, and so does the one after torch._dynamo.reset().
    assert call.steady == 11
    assert 3 <= call.timed < call.steady


def test_operators_belong_to_the_break_before_them(measured: tuple[Report, CostReport]) -> None:
    price = price_of(measured, "three_operators(x)")
    assert price.operators == pytest.approx(3)
    assert price.host_copies == 0
    assert price.graphs == 1


def test_a_skipped_function_is_priced_with_everything_between_its_graphs(
    measured: tuple[Report, CostReport],
) -> None:
    price = price_of(measured, "reads_a_value(x)")
    assert price.host_copies == pytest.approx(3)
    assert price.operators == pytest.approx(6)
    assert price.price is not None
    assert 0 < price.at_least <= price.price.seconds


def test_root_causes_are_ranked_by_their_price(measured: tuple[Report, CostReport]) -> None:
    report, cost = measured
    assert [cause.key for cause in report.causes] == [price.site for price in cost.causes]
    shares = [price.share for price in cost.causes]
    assert shares == sorted(shares, reverse=True)
    assert cost.at_most is not None
    assert cost.at_least is not None
    assert 0 < cost.at_least <= cost.at_most <= 1


def test_too_few_calls_are_no_silent_zero(tmp_path: Path) -> None:
    report, cost = run(tmp_path, 2)
    assert cost.at_most is None
    assert "3 calls" in cost.reason
    assert all(price.price is None and price.reason for price in cost.causes)
    assert "cannot be told: 3 calls" in " ".join(str(report).split())


def test_a_function_whose_calls_all_raise_has_only_errors() -> None:
    events: list[Event] = []
    measure = CostMeasure(events.append)
    targets = [Target(number, Code("a.py", number, "f")) for number in (1, 2)]
    for number, target in enumerate((*targets, targets[1], targets[1]), start=1):
        call = CompiledCall(target, number, None, 0, None, 0, 1000, error="KeyError")
        measure.started(call)
        measure.ended(call)
    measure.flush()
    assert events == [
        Cost(target.number, target.code, calls=number, compiling=number, errors=number)
        for target, number in zip(targets, (1, 3), strict=True)
    ]

"""Where the time of a call goes, from captured times: attribution, and that it adds up."""

from __future__ import annotations

import pytest

from fullgraph.analysis import analyze
from fullgraph.model.cost import CausePrice, CostReport
from fullgraph.model.events import (
    FORMAT_VERSION,
    Break,
    Code,
    CodeLine,
    Compile,
    Cost,
    Event,
    Frame,
    Gap,
    Piece,
    Profile,
    Reason,
    Resumption,
    Stack,
)
from fullgraph.model.report import Report
from fullgraph.model.session import Header, Session

FILE = "/home/model.py"
FORWARD = Code(FILE, 1, "forward")
REST = Code(FILE, 1, "forward", resumed_at=3)
LOOP = Code(FILE, 20, "loop")
MILLISECOND = 1_000_000


def broken(compile_id: str, root: Code, line: int, outcome: Resumption = "resumed") -> Break:
    stack = Stack((Frame(FILE, line, root.function),))
    return Break(compile_id, root, (Reason(f"break at {line}"),), stack, outcome)


def two_breaks(gaps: tuple[Gap, ...], *rows: tuple[int, ...]) -> list[Event]:
    """Return the events of a function with breaks in lines 3 and 5, and the times of its calls."""
    return [
        broken("0/0", FORWARD, 3),
        Compile("0/0", FORWARD, seconds=1.0),
        broken("1/0", REST, 5),
        Compile("1/0", REST, seconds=0.5),
        Compile("2/0", Code(FILE, 1, "forward", resumed_at=5), seconds=0.25),
        Cost(1, FORWARD, calls=10, compiling=1, graphs=("0/0", "2/0"), gaps=gaps, samples=rows),
    ]


def profile(lookup: float, *pieces: Piece) -> Profile:
    return Profile(lookup, pieces)


def report_of(events: list[Event]) -> tuple[Report, CostReport]:
    report = analyze([Session(Header(format=FORMAT_VERSION, fullgraph="1"), tuple(events))])
    assert report.cost is not None
    return report, report.cost


def price_at(cost: CostReport, line: int) -> CausePrice:
    return next(price for price in cost.causes if f"break at {line} " in price.site)


ENTRY = Gap(profile=profile(0.001, Piece("", 0.001)))
EXIT = Gap(
    frames=(CodeLine(FORWARD, 9, "2/0"),), profile=profile(0.0, Piece("2/0", 1e-5), Piece("", 1e-5))
)
ROWS = tuple(tuple(n * MILLISECOND for n in (1, 4, 8, 4, 1)) for _ in range(5))


def test_two_breaks_in_one_gap_share_its_time_as_in_the_profiled_call() -> None:
    pieces = Piece("0/0", 0.012, operators=2, operator_seconds=0.008), Piece("1/0", 0.004)
    _, cost = report_of(two_breaks((ENTRY, Gap(profile=profile(0.0, *pieces)), EXIT), *ROWS))
    first, second = price_at(cost, 3), price_at(cost, 5)
    assert first.price is not None
    assert second.price is not None
    assert first.price.seconds == pytest.approx(0.006)
    assert second.price.seconds == pytest.approx(0.002)
    assert first.shared
    assert first.operators == 2
    assert second.operators == 0
    # The profiled gap took twice as long, and so did its operators.
    assert first.at_least == pytest.approx(0.006 - 0.004)
    assert first.compile_seconds == pytest.approx(0.5)
    assert second.compile_seconds == pytest.approx(0.25)


def test_the_look_up_of_compiled_code_is_taken_out_of_a_gap_but_not_of_its_price() -> None:
    # The profiler makes the start of a call twice as long, and so the look-up in the gap.
    gap = Gap(profile=profile(0.004, Piece("0/0", 0.01)))
    _, cost = report_of(two_breaks((ENTRY, gap, EXIT), *ROWS))
    (call,) = cost.calls
    assert call.shares is not None
    assert call.shares.guards == pytest.approx(0.001 + 0.002)
    assert call.shares.between == pytest.approx(0.006)
    assert call.shares.graphs == pytest.approx(0.008)
    assert call.shares.unexplained == pytest.approx(0.001)
    price = price_at(cost, 3).price
    assert price is not None
    assert price.seconds == pytest.approx(0.008)
    assert cost.explained == pytest.approx(17 / 18)
    assert cost.at_most == pytest.approx(8 / 18)


def test_calls_that_another_process_slowed_down_do_not_raise_a_price() -> None:
    # The gap is slow in calls whose graphs are fast, so that these calls take a usual time.
    usual, slow = (1, 14, 2, 14, 1), (1, 1, 30, 1, 1)
    rows = [tuple(n * MILLISECOND for n in row) for row in (usual, slow, usual, usual, usual)]
    gap = Gap(profile=profile(0.0, Piece("0/0", 0.002)))
    _, cost = report_of(two_breaks((ENTRY, gap, EXIT), *rows))
    price = price_at(cost, 3)
    assert price.price is not None
    assert price.price.seconds == pytest.approx(0.002)
    assert price.price.low <= price.price.seconds <= price.price.high
    assert price.at_least <= price.price.seconds


def test_a_break_that_is_slow_in_some_of_the_calls_has_a_price() -> None:
    rows = [tuple(n * MILLISECOND for n in (1, 4, gap, 4, 1)) for gap in (2, 2, 2, 22, 22) * 4]
    gap = Gap(profile=profile(0.001, Piece("0/0", 0.002)))
    _, cost = report_of(two_breaks((ENTRY, gap, EXIT), *rows))
    price, (call,) = price_at(cost, 3).price, cost.calls
    assert price is not None
    assert price.seconds > 0.005
    assert call.call is not None
    assert call.shares is not None
    # Finding compiled code does not take longer where the rest of a gap does.
    assert call.shares.guards == pytest.approx(0.001 + 0.0005)
    shares = call.shares
    assert call.call.seconds == pytest.approx(
        shares.graphs + shares.between + shares.guards + shares.skipped + shares.unexplained
    )


def test_a_price_is_inside_of_its_interval() -> None:
    # One call of usual length has a slow gap, so the mean is above the third quartile.
    usual = [(1, graph, 2, 14, 1) for graph in (11, 12, 13, 14, 18, 19, 20)]
    rows = [tuple(n * MILLISECOND for n in row) for row in (*usual, (1, 1, 30, 1, 1))]
    gap = Gap(profile=profile(0.0, Piece("0/0", 0.002)))
    _, cost = report_of(two_breaks((ENTRY, gap, EXIT), *rows))
    price = price_at(cost, 3).price
    assert price is not None
    assert price.low == pytest.approx(0.002)
    assert price.seconds == pytest.approx((2 + 2 + 2 + 30) / 4 / 1000)
    assert price.seconds <= price.high


def test_a_break_without_time_in_a_profiled_gap_keeps_its_graph() -> None:
    pieces = Piece("0/0", 0.0), Piece("", 0.001)
    _, cost = report_of(two_breaks((ENTRY, Gap(profile=profile(0.0, *pieces)), EXIT), *ROWS))
    assert price_at(cost, 3).graphs == 1


def test_without_a_profile_the_innermost_function_that_broke_decides() -> None:
    gap = Gap(frames=(CodeLine(LOOP, 22), CodeLine(FORWARD, 3, "0/0")))
    _, cost = report_of(two_breaks((Gap(), gap, Gap()), *ROWS))
    price = price_at(cost, 3)
    assert price.price is not None
    assert price.price.seconds == pytest.approx(0.008)
    assert price.operators is None
    assert price.graphs == 1


def test_time_outside_of_compiled_code_belongs_to_the_skipped_function() -> None:
    outside = Gap(frames=(CodeLine(LOOP, 22),), profile=profile(0.0, Piece("", 0.002)))
    entry = Gap(nested=(CodeLine(LOOP, 22),), profile=profile(0.0, Piece("", 0.001)))
    layer = Code(FILE, 30, "layer")
    rows = ROWS[:3]
    events: list[Event] = [
        broken("0/0", LOOP, 23, "skipped"),
        Compile("0/0", LOOP, outcome="skipped", seconds=2.0),
        Compile("1/0", layer),
        Cost(1, LOOP, calls=9, graphs=("1/0", "1/0"), gaps=(entry, outside, outside), samples=rows),
    ]
    _, cost = report_of(events)
    (call,) = cost.calls
    assert call.shares is not None
    assert call.shares.skipped == pytest.approx(0.010)
    price = price_at(cost, 23)
    assert price.price is not None
    assert price.price.seconds == pytest.approx(0.010)
    assert price.graphs == 1
    assert price.compile_seconds == pytest.approx(2.0)


def test_a_call_that_runs_no_graph_belongs_to_the_break_of_its_function() -> None:
    events: list[Event] = [
        broken("0/0", LOOP, 23, "skipped"),
        Compile("0/0", LOOP, outcome="skipped"),
        Cost(1, LOOP, calls=9, gaps=(Gap(),), samples=((5 * MILLISECOND,),) * 4),
    ]
    _, cost = report_of(events)
    assert cost.at_most == pytest.approx(1.0)
    assert cost.calls[0].graphs == 0
    profiled = Gap(profile=profile(0.0, Piece("", 0.005, operators=12)))
    samples = ((5 * MILLISECOND,),) * 4
    _, cost = report_of([*events[:2], Cost(1, LOOP, calls=9, gaps=(profiled,), samples=samples)])
    assert price_at(cost, 23).operators == 12


def test_steps_of_a_backward_pass_belong_to_the_break_that_their_operators_came_after() -> None:
    backward = Cost(
        1,
        FORWARD,
        backward=True,
        calls=9,
        graphs=("", ""),
        gaps=(
            Gap(profile=profile(0.0, Piece("", 0.001))),
            Gap(profile=profile(0.0, Piece("1/0", 0.003), Piece("", 0.001))),
            Gap(),
        ),
        samples=ROWS,
    )
    _, cost = report_of([*two_breaks((ENTRY, Gap(), EXIT), *ROWS), backward])
    price = price_at(cost, 5)
    assert price.backward is not None
    assert price.backward.seconds == pytest.approx(0.006)
    forward_call, backward_call = cost.calls
    assert not forward_call.backward
    assert backward_call.shares is not None
    assert backward_call.shares.unexplained == 0
    assert backward_call.shares.between == pytest.approx(0.010)


def test_the_price_decides_the_rank_of_a_root_cause() -> None:
    gap = Gap(profile=profile(0.0, Piece("0/0", 0.001), Piece("1/0", 0.009)))
    report, _ = report_of(two_breaks((ENTRY, gap, EXIT), *ROWS))
    assert [cause.line for cause in report.causes] == [5, 3]


def test_two_timed_calls_are_too_few() -> None:
    report, cost = report_of(two_breaks((ENTRY, Gap(), EXIT), *ROWS[:2]))
    assert cost.explained is None
    assert cost.at_most is None
    assert all(price.price is None for price in cost.causes)
    assert all("could be timed after warm-up" in price.reason for price in cost.causes)
    assert "cannot be told" in str(report)


def test_calls_in_a_slow_moment_do_not_count() -> None:
    slow = tuple(100 * n for n in ROWS[0])
    _, cost = report_of(two_breaks((ENTRY, Gap(), EXIT), *ROWS, slow))
    (call,) = cost.calls
    assert call.call is not None
    assert call.call.seconds == pytest.approx(0.018)


def test_the_newest_times_of_the_same_graphs_count() -> None:
    older = two_breaks((ENTRY, Gap(), EXIT), *ROWS)
    newer = Cost(
        1,
        FORWARD,
        calls=99,
        compiling=1,
        graphs=("0/0", "2/0"),
        gaps=(ENTRY, Gap(), EXIT),
        samples=ROWS,
    )
    _, cost = report_of([*older, newer])
    assert [call.steady for call in cost.calls] == [98]


def test_a_function_whose_calls_all_raise_has_a_reason() -> None:
    events: list[Event] = [
        broken("0/0", FORWARD, 3, "raised"),
        Cost(1, FORWARD, calls=2, compiling=2, errors=2),
    ]
    report, cost = report_of(events)
    assert cost.reason == "no call ended without an error"
    assert "cannot be told: no call ended without an error" in str(report)

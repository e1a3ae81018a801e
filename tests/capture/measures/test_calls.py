"""`FULLGRAPH_MEASURE=calls`: each call of a compiled function, and what it compiled and ran."""

from __future__ import annotations

import pytest

from fullgraph.capture.compiled_calls import CompiledCall, GraphRun, Target
from fullgraph.capture.measures import MEASURE_VARIABLE
from fullgraph.capture.measures import calls as calls_module
from fullgraph.capture.measures.calls import SINGLE_CALLS, CallWriter
from fullgraph.model.events import Call, Code, Event, Frame
from fullgraph.model.session import load_all
from tests.conftest import PROGRAMS
from tests.warm_cli import WarmCli

PROGRAM = PROGRAMS / "calls.py"


def line_of(text: str) -> int:
    """Return the first line of the program that contains `text`."""
    return next(n for n, line in enumerate(PROGRAM.read_text().splitlines(), 1) if text in line)


@pytest.fixture(scope="module")
def calls(tmp_path_factory: pytest.TempPathFactory) -> list[Call]:
    folder = tmp_path_factory.mktemp("calls")
    cli = WarmCli(folder)
    cli.environment[MEASURE_VARIABLE] = "calls"
    ran = cli("run", "--session", "session", str(PROGRAM))
    assert ran.returncode == 0, ran.stderr
    sessions = load_all((str(folder / "session"),))
    return [e for session in sessions for e in session.events if isinstance(e, Call)]


def calls_of(calls: list[Call], function: str) -> list[Call]:
    return [call for call in calls if call.code.function == function]


def test_a_call_lists_what_it_compiled_and_the_graphs_that_ran(calls: list[Call]) -> None:
    first, second, third, *_ = calls_of(calls, "outer")
    assert [call.number for call in (first, second, third)] == [1, 2, 3]
    assert first.ran == first.compiles != second.ran == second.compiles
    assert third.compiles == ()
    assert third.ran == second.ran
    assert len(third.ran) == 2


def test_the_caller_is_the_line_of_the_user(calls: list[Call]) -> None:
    first, *_, last = calls_of(calls, "outer")
    assert first.caller is not None
    assert last.caller is not None
    assert (first.caller.file, first.caller.line) == (
        str(PROGRAM),
        line_of("compiled(torch.ones(size))"),
    )
    assert last.caller.code == "compiled(torch.ones(4))"


def test_a_compiled_function_inside_of_another_one_is_not_a_call_of_its_own(
    calls: list[Call],
) -> None:
    assert calls_of(calls, "inner") == []


def test_an_exception_of_the_call_is_noted_and_not_one_that_is_being_handled(
    calls: list[Call],
) -> None:
    assert [call.error for call in calls_of(calls, "fails")] == ["KeyError"]
    assert [call.error for call in calls_of(calls, "outer")] == [""] * 6


def test_threads_generators_and_calls_that_torch_refuses_do_not_hide_later_calls(
    calls: list[Call],
) -> None:
    assert [call.number for call in calls_of(calls, "outer")] == [1, 2, 3, 4, 5, 6]
    assert len(calls_of(calls, "doubled")) == 1


def test_copies_and_pickles_of_a_module_are_targets_of_their_own(calls: list[Call]) -> None:
    modules = calls_of(calls, "forward")
    assert [call.number for call in modules] == [1, 1, 1]
    assert len({call.target for call in modules}) == 3


def call_number(number: int, target: Target, caller: Frame, ran: str = "0/0") -> CompiledCall:
    run = GraphRun(ran, 10, 20)
    return CompiledCall(target, number, caller, 0, None, 0, 1000, graphs=[run])


def test_many_equal_calls_become_few_events() -> None:
    events: list[Event] = []
    writer = CallWriter(events.append)
    target = Target(1, Code("a.py", 1, "f"))
    caller = Frame("a.py", 9, "<module>")
    last = SINGLE_CALLS + 500
    for number in range(1, last + 1):
        ran = "0/1" if number == SINGLE_CALLS + 100 else "0/0"
        writer.ended(call_number(number, target, caller, ran))
    writer.flush()
    calls = [event for event in events if isinstance(event, Call)]
    assert sum(call.count for call in calls) == last
    assert [(call.number, call.count, call.ran) for call in calls[SINGLE_CALLS:]] == [
        (SINGLE_CALLS + 1, 99, ("0/0",)),
        (SINGLE_CALLS + 100, 1, ("0/1",)),
        (SINGLE_CALLS + 101, 400, ("0/0",)),
    ]
    assert sum(call.seconds for call in calls) == pytest.approx(last * 1e-6)


def test_equal_calls_are_counted_until_anything_differs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls_module, "SINGLE_CALLS", 1)
    monkeypatch.setattr(calls_module, "CALLS_PER_EVENT", 3)
    events: list[Event] = []
    writer = CallWriter(events.append)
    one, two = (Target(number, Code("a.py", number, "f")) for number in (1, 2))
    line, other = Frame("a.py", 8, "<module>"), Frame("a.py", 9, "<module>")

    def call(target: Target, number: int, caller: Frame = line, **facts: object) -> None:
        made = call_number(number, target, caller)
        for name, value in facts.items():
            setattr(made, name, value)
        writer.ended(made)

    def emitted() -> list[tuple[int, int, int]]:
        found = [(each.target, each.number, each.count) for each in events]  # type: ignore[union-attr]
        events.clear()
        return found

    for number in range(1, 7):
        call(one, number)
    # The first call has an event of its own, and an event stands for three calls at most.
    assert emitted() == [(1, 1, 1), (1, 2, 3)]
    call(two, 2)
    call(one, 7, other)
    assert emitted() == [(1, 5, 2)]
    call(one, 8, other, error="KeyError")
    call(one, 9, other, compiles=["0/1"])
    # A call that compiles is never counted with others.
    assert emitted() == [(1, 7, 1), (1, 8, 1), (1, 9, 1)]
    call(one, 11, other)
    call(one, 12, other, is_backward=True)
    call(one, 13, other)
    assert emitted() == [(1, 11, 1)]
    writer.flush()
    assert emitted() == [(2, 2, 1), (1, 13, 1)]
    # A forked process that ends may flush twice.
    writer.flush()
    assert emitted() == []
    call(one, 14, other)
    writer.after_fork()
    writer.flush()
    assert emitted() == []

"""Groups of recompiles, from sessions that are written by hand."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from fullgraph.analysis import analyze
from fullgraph.model.events import (
    FORMAT_VERSION,
    Call,
    Code,
    Compile,
    GuardChange,
    GuardFailure,
    Recompile,
)
from fullgraph.model.report import CallCounts, Report
from fullgraph.model.session import Header, Session

HEADER = Header(format=FORMAT_VERSION, fullgraph="1")
CODE = Code("/home/model.py", 3, "forward", "Model.forward")


def change(before: str, now: str, name: str = "n", kind: str = "int") -> GuardChange:
    return GuardChange(kind, "argument", f"L['{name}']", name, before, now)  # type: ignore[arg-type]


def recompile(number: int, *failures: tuple[GuardChange, ...], limit: bool = False) -> Recompile:
    return Recompile(
        f"0/{number}",
        CODE,
        tuple(GuardFailure(f"0/{index}", ("n",), each) for index, each in enumerate(failures)),
        "recompile_limit" if limit else None,
        8 if limit else None,
    )


def call(number: int, *ran: str, compiles: tuple[str, ...] = (), count: int = 1) -> Call:
    return Call(1, number, CODE, 0.1, compiles, ran, count=count)


def analyzed(*events: Any) -> Report:
    return analyze([Session(HEADER, events)])


def test_the_piece_of_code_that_fits_best_tells_what_changed() -> None:
    far = (change("1", "3"), change("a", "b", "mode", "str"))
    near = (change("2", "3"),)
    (group,) = analyzed(recompile(2, far, near)).recompile_groups
    assert (group.name, group.values) == ("n", ("2", "3"))


def test_calls_after_the_limit_run_in_eager_mode_unless_they_fit() -> None:
    events = (
        Compile("0/0", CODE),
        call(1, "0/0", compiles=("0/0",)),
        recompile(1, (change("1", "2"),)),
        Compile("0/1", CODE),
        call(2, "0/1", compiles=("0/1",)),
        recompile(2, (change("2", "3"),), limit=True),
        Compile("0/2", CODE, "limit"),
        call(3, compiles=("0/2",)),
        call(4, "0/0"),
        call(5, count=10),
    )
    (group,) = analyzed(*events).recompile_groups
    assert group.calls is not None
    assert (group.calls.total, group.calls.eager, group.calls.first_eager) == (14, 11, 3)


def test_each_process_has_a_first_value() -> None:
    first = Session(HEADER, (recompile(1, (change("2", "3"),)), recompile(2, (change("3", "4"),))))
    second = Session(HEADER, (recompile(1, (change("5", "6"),)),))
    (group,) = analyze([first, second]).recompile_groups
    assert group.values == ("2", "3", "4", "5", "6")


def test_what_torch_wraps_shares_the_limit_of_the_wrapper() -> None:
    """A call of another partial function that compiled and ran nothing was at the limit, too."""
    wrapper = Code("/lib/torch/_dynamo/external_utils.py", 67, "inner")
    first = recompile(1, (change("1", "2"),), limit=True)
    events = (
        Compile("0/0", wrapper),
        call(1, "0/0", compiles=("0/0",)),
        replace(first, code=wrapper),
        Compile("0/1", wrapper, "limit"),
        replace(call(1, compiles=("0/1",)), target=2),
        replace(call(1), target=3),
    )
    (group,) = analyzed(*events).recompile_groups
    assert group.calls == CallCounts(3, 2, 2)


def test_calls_that_a_limit_raised_an_error_in_did_not_run_in_eager_mode() -> None:
    events = (
        Compile("0/0", CODE),
        call(1, "0/0", compiles=("0/0",)),
        recompile(1, (change("1", "2"),), limit=True),
        Compile("0/1", CODE, "limit", error="FailOnRecompileLimitHit: Hard failure"),
        call(2, compiles=("0/1",)),
        call(3, "0/0"),
    )
    (group,) = analyzed(*events).recompile_groups
    assert group.limit_raises
    assert group.calls == CallCounts(3, 0, None, raised=1, first_raised=2)


def test_strings_that_come_back_are_bounded() -> None:
    def events(*later: Call) -> tuple[object, ...]:
        return (
            Compile("0/0", CODE),
            call(1, "0/0", compiles=("0/0",)),
            recompile(1, (change("'a'", "'b'", "mode", "str"),)),
            Compile("0/1", CODE),
            call(2, "0/1", compiles=("0/1",)),
            *later,
        )

    (group,) = analyzed(*events(call(3, "0/0"), call(4, "0/1"))).recompile_groups
    assert group.bounded
    (group,) = analyzed(*events(call(3, "0/0"))).recompile_groups
    assert not group.bounded


def test_groups_are_ranked_by_refused_compiles_then_recompiles() -> None:
    events = (
        recompile(1, (change("1", "2", "a"),)),
        recompile(2, (change("1", "2", "b"),)),
        recompile(3, (change("2", "3", "b"),)),
        recompile(4, (change("1", "2", "c"),), limit=True),
    )
    assert [group.name for group in analyzed(*events).recompile_groups] == ["c", "b", "a"]


def test_equal_groups_are_in_the_order_of_their_first_recompiles() -> None:
    events = (
        recompile(1, (change("1", "2", "b"),)),
        Compile("0/1", CODE, seconds=1.0),
        recompile(2, (change("1", "2", "a"),)),
        Compile("0/2", CODE, seconds=2.0),
    )
    assert [group.name for group in analyzed(*events).recompile_groups] == ["b", "a"]


def test_what_shares_a_limit_is_counted_after_it_is_reached() -> None:
    def events(*calls: Call) -> tuple[object, ...]:
        refused = recompile(1, (change("1", "2"),), limit=True)
        return Compile("0/0", CODE), replace(refused, instances=2), *calls

    calls = [Call(target, 1, CODE, 0.1) for target in (1, 2, 3, 4)]
    (group,) = analyzed(*events(*calls)).recompile_groups
    assert "4 objects share this code and its limit" in group.notes
    # Without calls, or with one torch.compile for all objects, there may be more.
    for some in ((), calls[:1]):
        (group,) = analyzed(*events(*some)).recompile_groups
        assert "at least 2 objects share this code and its limit" in group.notes


def test_objects_that_were_not_compiled_before_the_limit_may_exist() -> None:
    refused = recompile(1, (change("1", "2"),), limit=True)
    calls = [Call(target, 1, CODE, 0.1) for target in (1, 2, 3, 4)]
    shared = replace(refused, instances=2, wrappers=4)
    (group,) = analyzed(Compile("0/0", CODE), shared, *calls).recompile_groups
    assert "at least 2 objects share this code and its limit" in group.notes
    assert "4 calls of torch.compile share this code and its limit" in group.notes


def test_a_session_of_an_older_version_has_no_groups() -> None:
    event = Recompile("0/1", CODE, (GuardFailure("0/0", ("n == 1",)),))
    report = analyzed(event)
    assert report.recompile_groups == ()
    assert report.summary.recompiles == 1

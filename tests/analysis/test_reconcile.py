"""Every reason for a difference from torch's own counts, where it applies and where it must not."""

from __future__ import annotations

from typing import Any

import pytest

from fullgraph.analysis import analyze
from fullgraph.analysis.reconcile import UNEXPLAINED
from fullgraph.model.events import FORMAT_VERSION, Break, Code, Compile, Frame, Graph, Reason, Stack
from fullgraph.model.report import Disagreement
from fullgraph.model.session import Header, Session

CODE = Code("/home/model.py", 1, "forward")
HEADER = Header(format=FORMAT_VERSION, fullgraph="1")


def compiled(**more: Any) -> Compile:
    return Compile("0/0", CODE, **more)


def broken(type_: str = "Some type", line: int = 3, **more: Any) -> Break:
    facts = {"logged_by": "wrapper", "error": "Unsupported", **more}
    return Break(
        "0/0", CODE, (Reason(type_),), Stack((Frame("/home/model.py", line, "forward"),)), **facts
    )


def differences(*events: Any) -> list[Disagreement]:
    return list(analyze([Session(HEADER, events)]).disagreements)


UNCOUNTED = [
    ("ended in a skipped frame", {"outcome": "skipped", "logged_by": "run"}),
    ("ended in a skipped frame or an error", {"outcome": "raised", "logged_by": ""}),
    ("left the rest of a function in eager mode", {"outcome": "cut", "logged_by": "step"}),
    (
        "at a data-dependent branch",
        {"type_": "Data-dependent branching", "logged_by": "jump_graph_break"},
    ),
    ("Dynamo raised as UserError", {"error": "UserError"}),
]


@pytest.mark.parametrize(("reason", "facts"), UNCOUNTED, ids=[reason for reason, _ in UNCOUNTED])
def test_a_break_that_torch_does_not_count_is_explained(reason: str, facts: dict[str, Any]) -> None:
    (difference,) = differences(broken(**facts), compiled(counted_breaks=0))
    assert (difference.ours, difference.theirs, difference.unexplained) == (1, 0, 0)
    assert reason in difference.why


@pytest.mark.parametrize(("reason", "facts"), UNCOUNTED, ids=[reason for reason, _ in UNCOUNTED])
def test_a_reason_does_not_explain_a_break_that_torch_did_count(
    reason: str, facts: dict[str, Any]
) -> None:
    # Both counts are 1, and still something is wrong: torch should not have counted this one.
    (difference,) = differences(broken(**facts), compiled(counted_breaks=1))
    assert difference.unexplained == 1


@pytest.mark.parametrize(("reason", "facts"), UNCOUNTED, ids=[reason for reason, _ in UNCOUNTED])
def test_a_reason_does_not_explain_another_break(reason: str, facts: dict[str, Any]) -> None:
    events = (broken(**facts), broken(line=4), compiled(counted_breaks=0))
    (difference,) = differences(*events)
    assert difference.unexplained == 1
    assert "1 remain unexplained" in difference.why


def test_a_break_that_torch_counts_is_no_difference() -> None:
    assert differences(broken(), compiled(counted_breaks=1)) == []


def test_a_break_without_a_reason_is_unexplained() -> None:
    (difference,) = differences(broken(), compiled(counted_breaks=0))
    assert difference.why == UNEXPLAINED


def test_breaks_of_a_compile_that_did_not_finish_are_explained() -> None:
    (difference,) = differences(broken())
    assert difference.why == "torch does not count 1 in a compile that did not finish"
    assert difference.unexplained == 0


def test_differences_of_two_compiles_do_not_cancel_out() -> None:
    other = Compile("1/0", CODE, counted_breaks=1)
    (difference,) = differences(broken(), compiled(counted_breaks=0), other)
    assert (difference.ours, difference.theirs, difference.unexplained) == (1, 1, 2)


def test_a_break_that_is_logged_again_is_one_occurrence() -> None:
    again = broken(outcome="skipped", logged_by="run", attempt=1)
    events = (broken(), again, compiled(counted_breaks=1, outcome="skipped"))
    report = analyze([Session(HEADER, events)])
    assert [(site.occurrences, site.resumed, site.skipped) for site in report.sites] == [(1, 0, 1)]
    assert not report.disagreements


def test_discarded_graphs_are_counted_by_torch_alone() -> None:
    graph = Graph("0/0", CODE, 2)
    (difference,) = differences(graph, compiled(counted_graphs=3, discarded_graphs=2))
    assert (difference.ours, difference.theirs, difference.unexplained) == (1, 3, 0)
    assert difference.why == "torch also counts 2 that Dynamo discarded"
    (difference,) = differences(graph, compiled(counted_graphs=3, discarded_graphs=1))
    assert difference.unexplained == 1


def test_refused_graphs_are_counted_by_neither() -> None:
    graph = Graph("0/0", CODE, 2)
    assert differences(graph, compiled(counted_graphs=1, refused_graphs=1)) == []
    (difference,) = differences(graph, compiled(counted_graphs=2, refused_graphs=1))
    assert difference.why == UNEXPLAINED


def test_operations_that_a_backend_changed_are_explained_and_no_others() -> None:
    graph = Graph("0/0", CODE, 5, changed_ops=-2)
    assert [
        (difference.ours, difference.theirs, difference.unexplained)
        for difference in differences(graph, compiled(counted_graphs=1, counted_ops=3))
    ] == [(5, 3, 0)]
    (difference,) = differences(graph, compiled(counted_graphs=1, counted_ops=4))
    assert difference.unexplained == 1
    plain = Graph("0/0", CODE, 5)
    (difference,) = differences(plain, compiled(counted_graphs=1, counted_ops=3))
    assert difference.why == UNEXPLAINED


def test_a_session_of_an_older_version_is_explained_as_before() -> None:
    branch = broken("Data-dependent branching", logged_by="", error="")
    assert [each.unexplained for each in differences(branch, compiled(counted_breaks=0))] == [0]
    assert differences(broken(logged_by="", error=""), compiled(counted_breaks=1)) == []

"""Adding a pass takes the pass, an entry in PASSES and a field of the report, nothing else."""

from __future__ import annotations

import json

import pytest

import fullgraph.analysis
from fullgraph.analysis import PASSES, analyze
from fullgraph.analysis.occurrences import list_occurrences
from fullgraph.analysis.state import AnalysisState
from fullgraph.errors import SessionError
from fullgraph.model.events import FORMAT_VERSION, Break, Code, Frame, Graph, Problem, Reason, Stack
from fullgraph.model.report import Report
from fullgraph.model.session import Header, Session
from fullgraph.render import render

CODE = Code("/home/model.py", 1, "forward")
SESSION = Session(
    Header(format=FORMAT_VERSION, fullgraph="1"),
    (
        Break("0/0", CODE, (Reason("Some type"),), Stack((Frame("/home/model.py", 3, "forward"),))),
        Graph("0/0", CODE, ops=3),
    ),
)


# The three steps of the docstring of `fullgraph.analysis`:


def find_backends(state: AnalysisState) -> tuple[str, ...]:
    """Return a name for each graph, after the occurrences that another pass found."""
    breaks = len(state.result(list_occurrences))
    return tuple(f"{graph.ops} ops, {breaks} break" for _, graph in state.events(Graph))


class ReportWithBackends(Report, frozen=True, kw_only=True):
    backends: tuple[str, ...]


def test_a_new_pass_is_in_the_report(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PASSES, "backends", find_backends)
    monkeypatch.setattr(fullgraph.analysis, "Report", ReportWithBackends)
    report = analyze([SESSION])
    assert report.backends == ("3 ops, 1 break",)  # type: ignore[attr-defined]
    assert json.loads(render("report", report, "json"))["backends"] == ["3 ops, 1 break"]


def test_every_field_of_the_report_has_a_pass() -> None:
    assert {*PASSES, "format"} == set(Report.__struct_fields__)


def test_a_pass_runs_once() -> None:
    calls = []
    state = AnalysisState([SESSION])

    def counted(state: AnalysisState) -> int:
        calls.append(state)
        return 7

    assert (state.result(counted), state.result(counted)) == (7, 7)
    assert len(calls) == 1


def test_no_session_is_a_clear_error() -> None:
    with pytest.raises(SessionError, match="no session to report on"):
        analyze([])


def test_up_to_five_uncaptured_commands_are_named() -> None:
    problems = tuple(Problem("", command=("python", f"{name}.py")) for name in "abcdef")
    for count, ending in ((5, "python e.py;"), (6, "python e.py, 1 more;")):
        [problem] = analyze([Session(SESSION.header, problems[:count])]).problems
        assert ending in problem.message

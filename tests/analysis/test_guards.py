"""Guards by function and by kind, from captured guards."""

from __future__ import annotations

from fullgraph.analysis.guards import analyze_guards
from fullgraph.model.events import FORMAT_VERSION, Code, Guard, Guards
from fullgraph.model.guard_report import GuardGroup
from fullgraph.model.session import Header, Session

CODE = Code("/home/model.py", 1, "forward")
GUARDS = (
    Guard("EQUALS_MATCH", "attribute", "L['self'].k", "self.k", seconds=2e-9),
    Guard("TENSOR_MATCH", "parameter", "L['self'].weight", "self.weight", seconds=3e-9),
    Guard("TENSOR_MATCH", "parameter", "L['self'].bias", "self.bias", seconds=1e-9),
    Guard("TENSOR_MATCH", "argument", "L['x']", "x", seconds=5e-9),
)


def groups_of(seconds: float | None) -> tuple[GuardGroup, ...]:
    event = Guards("0/0", CODE, seconds=seconds, guards=GUARDS)
    report = analyze_guards([Session(Header(format=FORMAT_VERSION, fullgraph="1"), (event,))])
    (function,) = report.functions
    (compiled,) = function.compiles
    return compiled.groups


def test_the_kinds_of_guards_are_ordered_by_what_all_guards_of_a_kind_cost() -> None:
    assert [(group.kind, group.place, group.seconds) for group in groups_of(11e-9)] == [
        ("TENSOR_MATCH", "argument", 5e-9),
        ("TENSOR_MATCH", "parameter", 4e-9),
        ("EQUALS_MATCH", "attribute", 2e-9),
    ]


def test_without_times_the_kind_with_the_most_guards_is_first() -> None:
    groups = groups_of(None)
    assert (groups[0].place, groups[0].seconds) == ("parameter", None)

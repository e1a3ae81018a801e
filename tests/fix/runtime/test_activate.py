"""When a plan is in effect: value guards by thread, and assumptions by the signature of a call."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
import torch

from fullgraph.fix.model import FixPlan
from fullgraph.fix.runtime.activate import ActivePlan, plan_active
from fullgraph.fix.runtime.signature import signature_of
from fullgraph.fix.source.edits import FileEdits, insert_lines
from fullgraph.value_guards import ValueGuardError
from tests.fix.run_case import load

PLAN = FixPlan(guards=True)


def test_a_trial_with_value_guards_is_an_error_where_a_program_runs_without_them() -> None:
    found: list[object] = []

    def in_second_thread() -> None:
        with pytest.raises(ValueGuardError, match="thread"), plan_active(PLAN):
            found.append("no error")
        found.append(ActivePlan(PLAN).wrap(lambda x: x + 1)(torch.ones(1)).item())

    with plan_active(PLAN) as log:
        assert log is not None
        second = threading.Thread(target=in_second_thread)
        second.start()
        second.join()
    assert found == [2.0]


PROGRAM = """\
import torch

def f(x):
    return x + 1
"""


def test_a_call_that_the_plan_is_not_for_runs_the_original_code(tmp_path: Path) -> None:
    module = load(PROGRAM, tmp_path)
    path = str(tmp_path / "program.py")
    edit = insert_lines(PROGRAM, 4, ["    return x + 2"])
    recorded = (torch.ones(2, 3),)
    plan = FixPlan(
        files={path: FileEdits(path, (edit,))},
        signatures=(repr(signature_of(recorded, {}, module.f)),),
    )
    fixed = ActivePlan(plan).wrap(lambda x: module.f(x), module.f)
    for _ in range(2):
        assert fixed(torch.zeros(4, 5)).max() == 2
        assert fixed(torch.zeros(4, 5, dtype=torch.float64)).max() == 1
        assert fixed(torch.zeros(1, 5)).max() == 1


def test_switching_between_the_plan_and_the_original_code_does_not_compile_again(
    tmp_path: Path,
) -> None:
    module = load(PROGRAM, tmp_path)
    path = str(tmp_path / "program.py")
    edit = insert_lines(PROGRAM, 4, ["    return x + ADDED"])
    fits, other = torch.ones(2, 3), torch.ones(2, 3, dtype=torch.float64)
    plan = FixPlan(
        files={path: FileEdits(path, (edit,), module_additions=("ADDED = 2",))},
        signatures=(repr(signature_of((fits,), {}, module.f)),),
    )
    compiles: list[object] = []

    def backend(graph: torch.fx.GraphModule, inputs: object) -> object:
        compiles.append(graph)
        return graph.forward

    fixed = ActivePlan(plan).wrap(torch.compile(module.f, backend=backend), module.f)
    for _ in range(3):
        assert fixed(fits).max() == 3
        assert fixed(other).max() == 2
        # Other callers run the original code.
        assert module.f(fits).max() == 2
        assert not hasattr(module, "ADDED")
    assert len(compiles) == 2


def test_a_signature_tells_apart_what_fixes_assume() -> None:
    x = torch.ones(2, 3)
    layer = torch.nn.Linear(3, 3)

    def signature(*args: object, of: object = None) -> object:
        return signature_of(args, {}, of)

    same = signature(x, 2, True)
    assert signature(torch.zeros(4, 7), 2, True) == same
    others = [
        signature(x.double(), 2, True),
        signature(x[0], 2, True),
        signature(x[:0], 2, True),
        signature(x[:1], 2, True),
        signature(torch.ones(3, 2).t(), 2, True),
        signature(x.clone().requires_grad_(), 2, True),
        signature(x, 3, True),
        signature(x, 2, False),
        signature(x, 2.0, True),
    ]
    with torch.no_grad():
        others.append(signature(x, 2, True))
    assert same not in others
    assert signature(x, x) != signature(x, x.clone())
    in_training = signature(x, of=layer)
    assert signature(x, of=layer.eval()) != in_training

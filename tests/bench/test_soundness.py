"""The fuzzer of fixes: generated programs keep what they do, and a wrong fix is found."""

from __future__ import annotations

import ast
import random
from pathlib import Path

import pytest

from bench._soundness.check import checked
from bench._soundness.compare import compare_all
from bench._soundness.fixed import FixedProgram
from bench._soundness.generate import assembled, generators, program_of
from bench._soundness.inputs import inputs_of, usual_input
from bench._soundness.observe import constants_of, outcome_of
from bench._soundness.program import Argument, Program, Shape
from bench._soundness.records import Record, append, records_in, table
from fullgraph.fix.fixers import Fixer, all_fixers
from fullgraph.fix.model import Candidate, FixPlan
from fullgraph.fix.search.grading import FixGrade, Grading
from fullgraph.fix.source.edits import Edit, FileEdits
from tests.fix.run_case import index_what_is_loaded

_REWRITE = ("rewrite", "move", "escape")
# Programs that take little time, of four fixers; together more than 300 pairs.
_SEEDS = (2, 9, 14, 16)


@pytest.fixture(scope="module", autouse=True)
def _loaded() -> None:
    index_what_is_loaded()


def test_every_fixer_that_rewrites_source_has_shapes() -> None:
    rewriting = {each.name for each in all_fixers() if each.kind in _REWRITE}

    assert rewriting <= set(generators())


def test_generated_programs_can_be_parsed_and_most_of_them_run() -> None:
    programs = [program_of(seed) for seed in range(220)]
    for program in programs:
        ast.parse(program.text)

    outcomes = [outcome_of(each.text, usual_input(each, 0)) for each in programs]

    assert sum(each is not None and not each.raised for each in outcomes) > 190


def test_a_seed_always_gives_the_same_program_and_inputs() -> None:
    once, again = program_of(123), program_of(123)

    assert once == again
    assert inputs_of(once, 20, {}) == inputs_of(again, 20, {})


@pytest.mark.parametrize("seed", _SEEDS)
def test_what_is_written_does_the_same_for_generated_inputs(seed: int) -> None:
    record = checked(program_of(seed), inputs=90, compiled=1)

    assert record.used
    assert record.eager > 75
    assert record.found == ()


def test_a_wrong_fix_that_is_called_safe_is_found_and_shrunk(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("bench._soundness.fixed.all_fixers", lambda: (_WRONG,))
    monkeypatch.setattr("bench._soundness.shrink._MOST_TRIES", 6)
    # Nothing is probed, as if the probes had missed it.
    monkeypatch.setattr("bench._soundness.fixed.grade_fixes", _all_safe)
    text = _PROGRAM.format(test="x.max() > 50")
    program = Program(0, "wrong", text, (Argument("x", "float", "torch.rand(4)"),))

    record = checked(program, inputs=40, compiled=0)

    assert record.differing
    found = record.found[0]
    assert "unused" not in found.program
    assert "x.max() > 50" in found.program
    assert "50" not in found.fixed
    assert found.given.endswith("result = function(x)  # once")


@pytest.mark.parametrize(
    ("original", "fixed", "what"),
    [
        ("return x * 1", "return x", "memory of result 0"),
        ("return x + 0.5", "return x + 0.5 * (x == x)", "outputs"),
        ("return x.double().float()", "return x", "outputs"),
        ("y = x * 2; return y", "y = x.detach() * 2; return y", "gradients"),
        ("return x.sin()", "return x.sin().contiguous()", "strides of result 0"),
        ("global COUNT; COUNT += 1; return x", "return x", "state global COUNT"),
        ("print('said'); return x", "return x", "printed"),
        ("return x + torch.rand(1)", "return x + torch.rand(2)[0]", "outputs"),
        ("torch.rand(1); return x", "return x", "random state of torch"),
        ("assert not x.isnan().any(); return x + 1", "return x + 1", "no longer raises"),
        ("y = x.view_as(x); return x, y", "y = x.clone(); return x, y", "memory of result 1"),
        ("return x.numpy().sum()", "return x.detach().numpy().sum()", "no longer raises"),
        ("x.add_(1); return x + 0", "x = x + 1; return x + 0", "inputs"),
    ],
)
def test_each_kind_of_difference_is_noticed(original: str, fixed: str, what: str) -> None:
    start = "import torch\nCOUNT = 0\ndef f(x):\n    "
    before, after = start + original, start + fixed
    argument = Argument("x", "float", "torch.randn(3, 4)")
    program = Program(7, "none", before, (argument,))
    given = inputs_of(program, 80, constants_of(before))

    compared = compare_all(before, FixedProgram(after, FixPlan(), used=["none"]), given, 0)

    assert any(what in each.problem for each in compared.differences), compared.differences[:1]


def test_a_later_run_goes_on_behind_the_records_of_a_folder(tmp_path: Path) -> None:
    first = Record(0, "branch_to_cond", "safe", ("branch_to_cond",), eager=40, compiled=4)
    append(tmp_path, first)
    append(tmp_path, Record(1, "branch_to_where", "refused"))
    with (tmp_path / "programs.jsonl").open("a") as file:
        # A run that was killed while it wrote.
        file.write('{"seed": 2, "fix')

    assert [each.seed for each in records_in(tmp_path)] == [0, 1]
    assert records_in(tmp_path)[0] == first
    line = next(each for each in table(records_in(tmp_path)).splitlines() if "_to_cond" in each)
    assert line == "| `branch_to_cond` | 1 | 1 | 0 | 0 | 0 | 0 | 0 | 40 | 4 | 0 |"


def test_shapes_are_called_by_several_kinds_of_callers() -> None:
    shape = Shape([Argument("x", "float", "torch.randn(4)")], ["return x * 2"])
    texts = [assembled(shape, random.Random(seed)) for seed in range(200)]

    for part in ("try:", "+= 1", "numpy", "helper(x)", "class Model", "STATE", "x = x"):
        assert any(part in each for each in texts), part


_PROGRAM = """import torch


def f(x):
    unused = 3
    if {test}:
        y = x * 2
    else:
        y = x - 1
    return y


def inputs():
    return (torch.rand(4),)
"""


def _propose_wrong(context):  # type: ignore[no-untyped-def]
    """Replace the branch by its second side."""
    start = context.text.index("    if x")
    end = context.text.index("    return y")
    edit = Edit(start, end, "    y = x - 1\n")
    yield Candidate(FileEdits(context.cause.file, (edit,)))


_WRONG = Fixer(
    name="wrong", title="wrong", kind="rewrite", safety="exact", assumes=(), ids=(),
    categories=(), any_break=True, order=0, about="", offered_for="",
    propose_in_module=_propose_wrong,
)  # fmt: skip


def _all_safe(_runner, result) -> Grading:  # type: ignore[no-untyped-def]
    return Grading(tuple(FixGrade("safe") for _ in result.fixes))

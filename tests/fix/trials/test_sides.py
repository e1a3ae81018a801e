"""Both sides of rewritten tests: which ones run, and inputs that are found for the others."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest
import torch

from fullgraph.fix.record.recorder import CallContext, CompiledTarget, RecordedCall
from fullgraph.fix.runtime.hot_patch import index_functions
from fullgraph.fix.source.edits import Edit, FileEdits, apply_edits
from fullgraph.fix.source.rewritten_tests import observing_edits, rewritten_tests
from fullgraph.fix.source.text import line_start
from fullgraph.fix.trials import side_search
from fullgraph.fix.trials.probes import Probe
from fullgraph.fix.trials.sides import SideCoverage, cover_sides
from tests.fix.run_case import index_what_is_loaded, load

PROGRAM = """\
import torch

LIMIT = 250.0

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("calls", torch.tensor(0))

    def forward(self, x, n, flag=False):
        {code}

f = Model()
"""


def covered(
    folder: Path, code: str, *args: Any, most_calls: int = 240, probes: tuple[Any, ...] = ()
) -> SideCoverage:
    """Return what is known of the sides of the statement `code`, which a fix takes out."""
    index_what_is_loaded()
    module = load(PROGRAM.format(code=code.replace("\n", "\n        ")), folder)
    index_functions()
    target = CompiledTarget("f", module.f, {})
    arguments = args or (torch.ones(2, 3), torch.tensor(3))
    recorded = [Probe("call 1", "", RecordedCall(target, arguments, {}, CallContext.current()))]
    others = [
        Probe(f"probe {number}", "", RecordedCall(target, each, {}, CallContext.current()))
        for number, each in enumerate(probes)
    ]
    text = (folder / "program.py").read_text()
    first = line_start(text, 11)
    edits = (Edit(first, line_start(text, 11 + code.count("\n") + 1), "        return x\n"),)
    return cover_sides(
        [FileEdits(str(folder / "program.py"), edits)],
        recorded,
        others,
        helpers=(),
        compiled={each.name for each in others[:1]},
        most_calls=most_calls,
    )


@pytest.mark.parametrize(
    "test",
    [
        "x.sum() > 1e6",
        "x.mean() < -1e-3",
        "(x == 3.5).all()",
        "(x > 7).all()",
        "x.sum() == 12345.678",
        "x.shape[0] > 3 and x.mean() > 2",
        "x.numel() >= 100",
        # Of both dimensions together: neither alone may be so large.
        "x.numel() > 9000",
        "n.item() == 17",
        "n > 4096",
        "x.sum().item() > LIMIT",
        "x.norm() == 0",
        "1.5 < x.max() < 2.5",
        "x.std() > 3 and (x < 0).any()",
        "(x.sigmoid() * x).sum() > 20.0",
        "x.isnan().any()",
        "flag and x.sum() > 100",
        "self.calls > 100",
        "not torch.isfinite(x).all()",
        "x.argmax() == 4",
    ],
)
def test_an_input_is_found_for_each_side(tmp_path: Path, test: str) -> None:
    nan = (torch.full((2, 3), float("nan")), torch.tensor(1))
    code = f"if {test}:\n    return x * 2\nreturn x + 1"
    found = covered(tmp_path, code, torch.ones(2, 3), torch.tensor(3), False, probes=(nan,))
    assert found.unreached == ()


def test_numbers_and_sizes_next_to_what_is_compared_are_tried() -> None:
    target = CompiledTarget("f", torch.nn.Identity(), {})
    arguments = (torch.ones(2, 3), torch.ones(3), 5, 0.5, True)
    start = Probe("", "", RecordedCall(target, arguments, {}, CallContext.current()))
    numbers = [each.call.args[2:] for each in side_search._numbers(start, [7.0, 0.5])]
    near = [7.0, 8.0, 6.0, 7.0 * 1.1 + 0.1, 7.0 * 0.9 - 0.1, -7.0]
    near += [0.5, 1.5, -0.5, 0.5 * 1.1 + 0.1, 0.5 * 0.9 - 0.1]
    assert numbers == [
        *((int(each), 0.5, True) for each in near if int(each) != 5),
        *((5, each, True) for each in near if each != 0.5),
        (5, 0.5, False),
    ]
    shapes = [
        tuple(tuple(tensor.shape) for tensor in each.call.args[:2])
        for each in side_search._sizes(start, [9000.0, 3.0])
    ]
    of_rows = [3001, 4, 3]
    of_columns = [4, 2]
    assert shapes == [
        *(((size, 3), (3,)) for size in of_rows),
        *(((2, size), (size,)) for size in of_columns),
    ]


@pytest.mark.parametrize(
    ("statement", "side"),
    [
        ("if x.abs().sum() < 0:\n    return x\nreturn -x", "`x.abs().sum() < 0` is true (line 11)"),
        ("y = x if (x == x.clone()).all() else -x\nreturn y", "`(x == x.clone()).all()` is false"),
        ("assert x.sum() * 0 < 1, 'never'\nreturn x", "`x.sum() * 0 < 1` is false (line 11)"),
        ("x[x.abs() < 0] = 1.0\nreturn x", "an element of `x.abs() < 0` is true (line 11)"),
    ],
)  # fmt: skip
def test_a_side_without_inputs_is_named(tmp_path: Path, statement: str, side: str) -> None:
    (unreached,) = covered(tmp_path, statement, most_calls=60).unreached
    assert str(unreached).startswith(side)


def test_a_mask_has_two_sides(tmp_path: Path) -> None:
    found = covered(tmp_path, "x[x > 1000] = 1.0\nreturn x")
    assert found.unreached == ()
    (probe, *combined) = found.added
    assert probe.assumption == "no element of `x > 1000` is true (line 11)"
    assert probe.name.startswith("every element of `x > 1000` is true (line 11)")
    assert any(each.name.endswith("with gradients") for each in combined)


def test_an_index_that_is_no_mask_has_no_sides(tmp_path: Path) -> None:
    assert covered(tmp_path, "x = x[n - 2]\nreturn x").unreached == ()


def test_a_probe_that_runs_a_side_but_is_not_compiled_is_compiled(tmp_path: Path) -> None:
    large = (torch.full((2, 3), 2000.0), torch.tensor(1))
    code = "if x.sum() > 1000:\n    return x * 2\nreturn x + 1"
    compiled = covered(tmp_path, code, probes=(large,))
    assert compiled.added == []
    ones = (torch.ones(2, 3), torch.tensor(1))
    found = covered(tmp_path, code, probes=(ones, large))
    assert found.added[0].compiled
    assert found.added[0].call.args[0].equal(large[0])


def test_the_search_changes_neither_modules_nor_recorded_calls(tmp_path: Path) -> None:
    x = torch.ones(2, 3)
    code = (
        "x.mul_(2)\nself.calls += 1\nif self.calls > 50 and x.sum() > 90:\n    return x\nreturn -x"
    )
    found = covered(tmp_path, code, x, torch.tensor(3))
    assert found.unreached == ()
    assert x.equal(torch.ones(2, 3))
    assert found.added[0].call.target.original.calls == 0


def test_programs_with_observing_edits_are_the_same(tmp_path: Path) -> None:
    text = (
        "def f(x, y, mask):\n"
        "    z = (x if (x > 1 and not y <= (2)) else y) + x[mask > 0, 1:, None]\n"
        "    while (n := x.sum()) > 3: x = x - (1)\n"
        "    assert x != y, f'{x > 3}'\n"
        "    return [a for a in x if a == 1]\n"
    )
    tests = rewritten_tests(text, (Edit(line_start(text, 2), len(text), "    pass\n"),))
    assert [each.shown for each in tests] == [
        "x > 1 and not y <= (2)", "mask > 0", "(n := x.sum()) > 3", "x != y",
    ]  # fmt: skip
    edits, deciding = observing_edits(text, tests)
    assert [len(each.inside) for each in deciding] == [2, 1, 1, 1]
    observed = apply_edits(text, edits)
    assert observed.count("__fullgraph_") == 4 + 2 * 6
    assert ast.parse(observed)

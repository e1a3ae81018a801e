"""Which fixes a program gets as a whole, beyond what each fixer does by itself."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from fullgraph.fix.fixers import all_fixers
from fullgraph.fix.record.input_values import InputValues
from tests.fix.run_case import fix_diff, search

IN_A_BLOCK = """
import time
import torch

class Model(torch.nn.Module):
    def forward(self, x, times=2):
        y = x.sin().exp()
        {block}
            time.sleep(0)
            y = y + times  # as it was
        {end}
        return y.cos() * 2

f = Model()

def inputs():
    return (torch.randn(4),)
"""

STAYS = """
import time
import torch

def inner(x):
    x = x + 1
    time.sleep(0)
    return x * 2

def f(x):
    return inner(x.sin()).cos()

def inputs():
    return (torch.randn(4),)
"""


def test_a_break_that_remains_splits_only_once(tmp_path: Path) -> None:
    result = search(STAYS, tmp_path)
    before, after = result.baseline.report, result.final.report
    assert before is not None
    assert after is not None
    assert [fix.candidate.settings for fix in result.fixes] == [{"nested_graph_breaks": True}]
    assert after.summary.sites == before.summary.sites == 1
    assert after.summary.graphs < before.summary.graphs


@pytest.mark.parametrize(
    ("block", "end"),
    [
        ("for _ in range(times):", ""),
        ("try:", "except ValueError:\n            y = x"),
    ],
)
def test_a_block_in_eager_mode_does_not_keep_the_rest_there(
    tmp_path: Path, block: str, end: str
) -> None:
    result = search(IN_A_BLOCK.format(block=block, end=end), tmp_path)
    before, after = result.baseline.report, result.final.report
    assert before is not None
    assert after is not None
    assert [fix.candidate.fixer for fix in result.fixes] == ["extract_block"]
    assert after.summary.ops > before.summary.ops
    assert after.summary.sites <= before.summary.sites
    assert after.summary.skipped_frames == 0
    diff = fix_diff(result)
    assert "-            y = y + times  # as it was\n" in diff
    assert "+        y = y + times  # as it was\n" in diff


GENERATED = """
import torch

exec(compile("def f(x):\\n    return x * x.abs().max().item()\\n", "<generated>", "exec"))

def inputs():
    return (torch.randn(4),)
"""


def test_code_without_a_file_gets_what_needs_no_source(tmp_path: Path) -> None:
    result = search(GENERATED, tmp_path)
    assert [fix.candidate.settings for fix in result.fixes] == [{"capture_scalar_outputs": True}]
    assert result.final.report is not None
    assert not result.final.report.causes


SAME_LINE = """
import logging
import torch

log = logging.getLogger(__name__)

def f(x):
    x = x + 1
    log.info("hello")
    print("e", x.shape); y = x + 1
    return y * 2

def inputs():
    return (torch.randn(3, 4),)
"""


def test_a_break_that_remains_has_the_reasons_of_the_fixers(tmp_path: Path) -> None:
    """Also where a setting was accepted for a while, and the break looked different under it."""
    result = search(SAME_LINE, tmp_path)
    (remaining,) = result.remaining
    reasons = {each.fixer: each.reason for each in remaining.refusals}
    assert reasons["skip_logging"] == "another statement is on the same line"


NESTED = """
import torch

def step(x):
    print("step")

    def inner(z):
        return z * 2 if z.sum() > 1 else z + 1

    return inner(x)

def f(x):
    return step(x) * 3

def inputs():
    return (torch.randn(4),)
"""


def test_a_function_inside_an_edited_one_is_fixed_as_well(tmp_path: Path) -> None:
    fixers = [each for each in all_fixers() if each.name in ("skip_logging", "branch_to_where")]
    result = search(NESTED, tmp_path, *fixers)
    assert [fix.candidate.fixer for fix in result.fixes] == ["skip_logging", "branch_to_where"]
    assert [fix.line for fix in result.fixes] == [5, 8]
    assert not result.remaining


A_STEP = """
import torch

def f(x, step):
    parts = x.split(int(step) % 4 + 1)
    return torch.cat([part * int(step) for part in parts])

def inputs():
    return torch.randn(12), torch.tensor(1)
"""


@pytest.mark.parametrize(("steps", "is_guarded"), [(3, True), (10, False)])
def test_a_guard_on_a_value_of_which_a_program_has_many_is_not_offered(
    tmp_path: Path, steps: int, is_guarded: bool
) -> None:
    # Of the program's calls, only the first one is kept as a whole.
    values = InputValues()
    for step in range(1, 1 + steps):
        values.note("f", (torch.zeros(12), torch.tensor(step)), {})
    values.save(tmp_path)
    fixer = next(each for each in all_fixers() if each.name == "value_guards")
    result = search(A_STEP, tmp_path, fixer)
    assert result.plan.guards == is_guarded
    if not is_guarded:
        reasons = [each.reason for left in result.remaining for each in left.rejected]
        assert any("too many different values" in each for each in reasons), reasons

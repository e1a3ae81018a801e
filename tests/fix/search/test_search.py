"""What is kept of a program as a whole, beyond what each fixer does by itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fix.run_case import peel

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


def test_a_break_that_stays_cuts_only_once(tmp_path: Path) -> None:
    peeled = peel(STAYS, tmp_path)
    before, after = peeled.baseline.report, peeled.final.report
    assert before is not None
    assert after is not None
    assert [step.candidate.settings for step in peeled.steps] == [{"nested_graph_breaks": True}]
    assert after.summary.sites == before.summary.sites == 1
    assert after.summary.graphs < before.summary.graphs


@pytest.mark.parametrize(
    ("block", "end"),
    [
        ("for _ in range(times):", ""),
        ("try:", "except ValueError:\n            y = x"),
    ],
)
def test_a_block_that_stays_in_eager_does_not_keep_the_rest_there(
    tmp_path: Path, block: str, end: str
) -> None:
    peeled = peel(IN_A_BLOCK.format(block=block, end=end), tmp_path)
    before, after = peeled.baseline.report, peeled.final.report
    assert before is not None
    assert after is not None
    assert [step.candidate.fixer for step in peeled.steps] == ["extract_block"]
    assert after.summary.ops > before.summary.ops
    assert after.summary.sites <= before.summary.sites
    assert after.summary.eager_frames == 0
    assert "            y = y + times  # as it was\n" not in peeled.steps[0].after
    assert "y = y + times  # as it was\n" in peeled.steps[0].after


GENERATED = """
import torch

exec(compile("def f(x):\\n    return x * x.abs().max().item()\\n", "<generated>", "exec"))

def inputs():
    return (torch.randn(4),)
"""


def test_code_without_a_file_gets_what_needs_no_source(tmp_path: Path) -> None:
    peeled = peel(GENERATED, tmp_path)
    assert [step.candidate.settings for step in peeled.steps] == [{"capture_scalar_outputs": True}]
    assert peeled.final.report is not None
    assert not peeled.final.report.causes

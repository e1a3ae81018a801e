"""What is kept of a program as a whole, beyond what each fixer does by itself."""

from __future__ import annotations

from pathlib import Path

from tests.mend.cases import peel

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

"""A result that is worse than the program without it is not a fix."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from fullgraph.analysis import analyze
from fullgraph.fix.model import TrialResult
from fullgraph.fix.search.accept import why_worse
from fullgraph.model.events import FORMAT_VERSION
from fullgraph.model.session import Header, Session
from tests.fix.run_case import search

EMPTY = analyze([Session(Header(format=FORMAT_VERSION, fullgraph="1"), ())])


def result(**counts: int) -> TrialResult:
    return TrialResult(1, replace(EMPTY, summary=replace(EMPTY.summary, **counts)))


@pytest.mark.parametrize(
    ("before", "after", "reason"),
    [
        ({"sites": 3, "graphs": 4, "ops": 40}, {"graphs": 1, "ops": 38}, ""),
        # A frame that was skipped is compiled now.
        ({"sites": 1, "skipped_frames": 1}, {"graphs": 2, "ops": 9, "compiles": 2}, ""),
        ({"sites": 2, "graphs": 2, "ops": 9}, {"sites": 1, "graphs": 3, "ops": 9}, "3 instead of"),
        # A loop under `disable` takes the network with it.
        ({"sites": 2, "graphs": 2, "ops": 80}, {"sites": 1, "graphs": 2, "ops": 4}, "operations"),
        # Another size may compile once more, another value not each time.
        ({"sites": 1, "compiles": 2}, {"compiles": 2, "recompiles": 1}, ""),
        ({"sites": 1, "compiles": 2}, {"compiles": 6, "recompiles": 5}, "recompile 5 times"),
    ],
)
def test_what_is_worse(before: dict[str, int], after: dict[str, int], reason: str) -> None:
    found = why_worse(result(**after), result(**before))
    assert reason in found
    assert bool(found) == bool(reason)


SOLVER = """
import torch
from torch import nn

class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 2), nn.Tanh())

    def forward(self, y):
        return self.layers(y**3)

net = Network()
times = torch.linspace(0, 1, 4)

def f(y):
    rows = torch.zeros(4)
    done = 1
    for number in range(3):
        y = y + net(y) / 3
        while done < 4 and times[number + 1] >= times[done]:
            rows[done] = y.sum()
            done += 1
    return rows * 2

def inputs():
    return (torch.randn(3, 2),)

GRADIENTS = False
"""


def test_a_loop_is_not_moved_out_of_the_graphs_with_the_network_inside(tmp_path: Path) -> None:
    found = search(SOLVER, tmp_path)
    before, after = found.baseline.report, found.final.report
    assert before is not None
    assert after is not None
    assert after.summary.ops >= before.summary.ops > 0
    assert "extract_block" not in {fix.candidate.fixer for fix in found.fixes}


STEPS = """
import torch

def f(x, step):
    if step.item() > 0:
        x = x * step.item()
    return x + 1

def inputs():
    return (torch.ones(3), torch.tensor(1))

def more():
    for number in (2, 3, 5, 7, 11, 13):
        yield (torch.ones(3), torch.tensor(number))
"""


def test_a_guard_on_a_number_that_always_changes_is_no_fix(tmp_path: Path) -> None:
    found = search(STEPS, tmp_path)
    assert not found.plan.guards
    summary = found.final.report.summary if found.final.report is not None else None
    assert summary is not None
    assert summary.recompiles <= 1

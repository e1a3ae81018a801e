"""A program that cannot be forked is run again for each trial."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
import torch

from fullgraph.fix.model import FixPlan, TrialRequest
from fullgraph.fix.trials.client import ProgramTrialRunner
from fullgraph.fix.trials.fork import can_fork
from fullgraph.fix.trials.runner import run_trial

PROGRAM = """\
import torch

f = torch.compile(lambda x: x * x.sum().item(), backend="eager")
f({inputs})
"""


@pytest.fixture
def runner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ProgramTrialRunner:
    monkeypatch.setenv("FULLGRAPH_FORKS", "0")
    (tmp_path / "program.py").write_text(PROGRAM.format(inputs="torch.ones(3)"))
    return ProgramTrialRunner([str(tmp_path / "program.py")], deadline=time.monotonic() + 60)


def test_a_program_without_gradients_can_be_forked() -> None:
    with torch.inference_mode():
        assert can_fork()


def test_trials_without_forks(runner: ProgramTrialRunner) -> None:
    with runner:
        assert runner.reruns_program
        before = run_trial(runner, TrialRequest("reference"))
        plan = FixPlan(settings={"capture_scalar_outputs": True})
        after = run_trial(runner, TrialRequest("trial", plan, varied=False))
    assert before.report is not None
    assert before.report.summary.sites == 1
    assert after.report is not None
    assert after.report.summary.sites == 0
    assert not after.differences


def test_a_program_that_differs_each_time_is_noticed(
    runner: ProgramTrialRunner, tmp_path: Path
) -> None:
    (tmp_path / "program.py").write_text(PROGRAM.format(inputs="torch.randn(3)"))
    with runner:
        run_trial(runner, TrialRequest("reference"))
        again = run_trial(runner, TrialRequest("trial", varied=False))
    assert "differs by" in again.differences[0].what

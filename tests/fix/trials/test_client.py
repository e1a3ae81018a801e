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

# The input of the second call comes from a file, so that a test can make two runs differ.
PROGRAM = """\
import pathlib
import torch

f = torch.compile(lambda x: x * x.sum().item(), backend="eager")
f(torch.ones(3))
f(torch.full((3,), float(pathlib.Path(__file__).with_name("input.txt").read_text())))
"""


def test_a_program_without_gradients_can_be_forked() -> None:
    with torch.inference_mode():
        assert can_fork()


def test_trials_without_forks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FULLGRAPH_FORKS", "0")
    program, number = tmp_path / "program.py", tmp_path / "input.txt"
    program.write_text(PROGRAM)
    number.write_text("1")
    plan = FixPlan(settings={"capture_scalar_outputs": True})
    with ProgramTrialRunner([str(program)], deadline=time.monotonic() + 60) as runner:
        assert runner.reruns_program
        before = run_trial(runner, TrialRequest("reference"))
        number.write_text("2")
        after = run_trial(runner, TrialRequest("trial", plan, varied=False))
    assert before.report is not None
    assert before.report.summary.sites == 1
    assert after.report is not None
    assert after.report.summary.sites == 0
    # A call that differs each time is noticed; the other one is as before.
    assert {each.sample for each in after.differences} == {"call 2"}
    assert "differs by" in after.differences[0].what

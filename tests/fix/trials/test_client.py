"""A program that cannot be forked is run anew for each trial."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
import torch

from fullgraph.fix.model import Plan
from fullgraph.fix.trials.client import Workshop
from fullgraph.fix.trials.fork import can_fork

PROGRAM = """\
import torch

f = torch.compile(lambda x: x * x.sum().item(), backend="eager")
f({inputs})
"""


@pytest.fixture
def workshop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workshop:
    monkeypatch.setenv("FULLGRAPH_FORKS", "0")
    (tmp_path / "program.py").write_text(PROGRAM.format(inputs="torch.ones(3)"))
    return Workshop([str(tmp_path / "program.py")], deadline=time.monotonic() + 60)


def test_a_program_without_gradients_can_be_forked() -> None:
    with torch.inference_mode():
        assert can_fork()


def test_trials_without_forks(workshop: Workshop) -> None:
    with workshop as shop:
        assert shop.runs_anew
        before = shop.answer(shop.ask("reference"))
        plan = Plan(settings={"capture_scalar_outputs": True})
        after = shop.answer(shop.ask("trial", plan, varied=False))
    assert before.report is not None
    assert before.report.summary.sites == 1
    assert after.report is not None
    assert after.report.summary.sites == 0
    assert not after.differences


def test_a_program_that_is_another_one_each_time(workshop: Workshop, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM.format(inputs="torch.randn(3)"))
    with workshop as shop:
        shop.answer(shop.ask("reference"))
        again = shop.answer(shop.ask("trial", varied=False))
    assert "differs by" in again.differences[0].what

"""Programs are run once; then trials start from the state before each of their calls."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from fullgraph.fix.model import FixPlan, TrialRequest, TrialResult
from fullgraph.fix.source.edits import Edit, FileEdits
from fullgraph.fix.trials import hanging
from fullgraph.fix.trials.client import ProgramTrialRunner
from fullgraph.fix.trials.fork import FORKS_VARIABLE, can_fork
from fullgraph.fix.trials.runner import run_trial
from tests.fix.run_case import index_what_is_loaded
from tests.warm_cli import start_server

Runner = Callable[[str], ProgramTrialRunner]
SCALARS = FixPlan(settings={"capture_scalar_outputs": True})
# A counter, a table that is built by the first call, a list, and the mode at the end: trials that
# started from the last state of the program would see other calls.
STATEFUL = """
import torch

CALLS = 0
TABLE = {}


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(3, 3)
        self.drop = torch.nn.Dropout(0.5)
        self.seen = []

    def forward(self, x):
        global CALLS
        CALLS += 1
        self.seen.append(CALLS)
        if "weight" not in TABLE:
            TABLE["weight"] = torch.full((3,), x.max().item())
        return self.drop(self.linear(x)) * TABLE["weight"] + len(self.seen)


torch.manual_seed(0)
model = Model()
compiled = torch.compile(model, backend="eager")
for _ in range(3):
    compiled(torch.randn(2, 3)).sum().backward()
model.eval()
"""


@pytest.fixture(params=["forks", "no forks"])
def runner(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Runner:
    """Return what runs a program in a fork of this process, where torch is loaded already."""
    monkeypatch.setenv(FORKS_VARIABLE, "1" if request.param == "forks" else "0")
    monkeypatch.setattr(ProgramTrialRunner, "_start", start_server)
    index_what_is_loaded()

    def start(source: str) -> ProgramTrialRunner:
        program = tmp_path / "program.py"
        program.write_text(source)
        return ProgramTrialRunner([str(program)], deadline=time.monotonic() + 300)

    return start


def reference_and_trial(
    runner: ProgramTrialRunner, plan: FixPlan = SCALARS
) -> tuple[TrialResult, TrialResult]:
    before = run_trial(runner, TrialRequest("reference"))
    return before, run_trial(runner, TrialRequest("trial", plan, all_calls=True))


def edited(runner: ProgramTrialRunner, source: str, old: str, new: str) -> FixPlan:
    path = str(Path(runner._target[0]).resolve())
    start = source.index(old)
    return FixPlan(files={path: FileEdits(path, (Edit(start, start + len(old), new),))})


def test_a_program_without_gradients_can_be_forked() -> None:
    with torch.inference_mode():
        assert can_fork()


def test_trials_start_from_the_state_before_the_call(runner: Runner) -> None:
    with runner(STATEFUL) as started:
        before, after = reference_and_trial(started)
    assert not before.error
    assert not before.differences
    assert not before.varying
    assert before.report is not None
    # Only the first call builds the table.
    assert [cause.line for cause in before.report.causes] == [20]
    assert after.report is not None
    assert not after.report.causes
    assert not after.error
    assert not after.differences
    # Two ways through the function are kept, both in training mode with gradients.
    assert after.samples.recorded == 2
    assert after.gradients > 0


def test_what_differs_each_time_is_not_compared(runner: Runner) -> None:
    source = (
        "import time\nimport torch\n\n\ndef f(x):\n    print('now', time.perf_counter_ns())\n"
        "    return x * x.max().item(), time.perf_counter_ns()\n\n\n"
        "torch.compile(f, backend='eager')(torch.ones(2))\n"
    )
    with runner(source) as started:
        before, after = reference_and_trial(started)
    assert "call 1" in before.varying
    assert not before.differences
    assert not after.differences


LIES = """
import torch

torch.equal = torch.allclose = lambda *_, **__: True
torch.isclose = lambda a, b, **_: torch.ones_like(a, dtype=torch.bool)
from fullgraph.outcomes import compare
compare.compare_outcomes = lambda *_, **__: compare.Comparison()
from fullgraph.fix.trials import execute, judge
judge.compare_outcomes = compare.compare_outcomes


def f(x):
    return x + 1


torch.compile(f, backend="eager")(torch.zeros(2))
"""


def test_a_program_cannot_hide_a_difference(runner: Runner) -> None:
    """What it does to the functions that compare is of no effect in the process of the judge."""
    with runner(LIES) as started:
        before, after = reference_and_trial(started, edited(started, LIES, "x + 1", "x + 2"))
    assert not before.differences
    assert after.differences[0].what.startswith("outputs")


CRASHES = """
import os
import torch


def f(x):
    if x.sum() > 100:
        os._exit(7)
    return x * x.max().item()


torch.compile(f, backend="eager")(torch.ones(2))
"""


def test_a_trial_that_ends_its_process_is_an_error_and_the_next_one_runs(runner: Runner) -> None:
    with runner(CRASHES) as started:
        before, crashed = reference_and_trial(started, edited(started, CRASHES, "100", "0"))
        after = run_trial(started, TrialRequest("trial", SCALARS))
    assert not before.error
    assert crashed.error
    assert not after.error
    assert not after.differences


HANGS = """
import threading
import torch

lock = threading.Lock()


def f(x):
    if x.sum() > 100:
        with lock:
            lock.acquire()
    return x * x.max().item()


torch.compile(f, backend="eager")(torch.ones(2))
"""


def test_a_trial_that_hangs_is_ended(runner: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hanging, "IDLE_SECONDS", 2.0)
    with runner(HANGS) as started:
        before, hung = reference_and_trial(started, edited(started, HANGS, "100", "0"))
        after = run_trial(started, TrialRequest("trial", SCALARS))
    assert not before.error
    assert "used no CPU time" in hung.error
    assert not after.error


def test_checkpoints_end_with_the_process_that_made_them(
    runner: Runner,
) -> None:
    with runner(STATEFUL) as started:
        run_trial(started, TrialRequest("reference"))
        assert started._process is not None
        server = started._process.pid
        waiting = _children_of(server)
        if started.recorded.can_fork:
            # The judge, and a checkpoint for each kept call.
            assert len(waiting) == 3
        started._process.kill()
        started._process.wait()
        while any(_is_running(process) for process in waiting):
            os.sched_yield()


def _children_of(process: int) -> list[int]:
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        values = stat.read_text().rpartition(")")[2].split()
        if int(values[1]) == process:
            found.append(int(stat.parent.name))
    return found


def _is_running(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False

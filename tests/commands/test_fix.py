"""`fullgraph fix` as a user meets it: what it shows, writes, reverts and refuses."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from fullgraph.commands.fix import write_fixes
from fullgraph.errors import FullgraphError
from fullgraph.fix.model import FixPlan
from fullgraph.fix.pipeline import FixOutcome
from fullgraph.fix.source.edits import FileEdits, insert_lines
from tests.conftest import Cli
from tests.fix.reports import FIX, GUARD_FIX, VERIFICATION, fix_report, guard

PROGRAM = """\
import numpy as np
import torch


def pad(x):
    # up to a multiple of both
    step = np.lcm(2, 3)
    missing = -x.shape[0] % step
    if missing > 0:
        x = torch.cat([x, x.new_zeros(missing)])
    return x * x.abs().max().item()


compiled = torch.compile(pad, backend="eager")
print(compiled(torch.arange(4.0)).shape)
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    file = tmp_path / "program.py"
    file.write_text(PROGRAM)
    return file


def git(folder: Path, *args: str) -> None:
    identity = ["-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run(["git", *identity, *args], cwd=folder, check=True, capture_output=True)


def test_settings_alone_are_shown_as_lines_and_nothing_is_written(
    warm_cli: Cli, program: Path
) -> None:
    done = warm_cli("fix", "--only", "settings", "--no-speed", program.name)
    assert done.returncode == 0, done.stderr
    assert "fixed" in done.stdout
    assert "speed:" not in done.stdout
    assert "+ torch._dynamo.config.capture_scalar_outputs = True" in done.stdout
    assert "verification:" in done.stdout
    assert "no new recompilation" in " ".join(done.stdout.split())
    assert "@@" not in done.stdout
    assert program.read_text() == PROGRAM


def adds_up(report: dict[str, Any]) -> None:
    """Check that the parts of a report of PROGRAM agree with each other."""
    summary = report["summary"]
    assert summary["verified"] is True
    assert summary["sites"]["before"] >= 1
    assert summary["sites"]["after"] == len(report["remaining"]) == 0
    assert {"causes", "graphs", "skipped_frames"} <= set(summary)
    assert report["verification"]["recorded_calls"] == 1
    assert report["verification"]["varied_calls"] >= 2
    for fix in report["fixes"]:
        assert fix["grade"]
        assert fix["diff"] or fix["settings"] or fix["kind"] == "guard"


def test_apply_and_undo(warm_cli: Cli, program: Path) -> None:
    refused = warm_cli("fix", "--apply", program.name)
    assert refused.returncode == 2
    assert "git" in refused.stderr
    assert program.read_text() == PROGRAM
    git(warm_cli.folder, "init")
    git(warm_cli.folder, "add", "program.py")
    git(warm_cli.folder, "commit", "-m", "first")
    applied = warm_cli("fix", "--format", "json", "-o", "fix.json", program.name, "--apply")
    assert applied.returncode == 0, applied.stderr
    adds_up(json.loads((warm_cli.folder / "fix.json").read_text()))
    assert "it runs again as far as its recorded calls" in applied.stderr
    text = program.read_text()
    assert "torch._dynamo.config.capture_scalar_outputs = True" in text
    assert "# up to a multiple of both" in text
    # What was verified holds for the written file.
    report = warm_cli("run", "--format", "json", "-o", "after.json", program.name)
    assert report.returncode == 0, report.stderr
    assert json.loads((warm_cli.folder / "after.json").read_text())["summary"]["sites"] == 0
    assert warm_cli("fix", "--undo").returncode == 0
    assert program.read_text() == PROGRAM
    again = warm_cli("fix", "--undo")
    assert again.returncode == 2
    assert "there is nothing to revert" in again.stderr


def test_apply_names_the_files_it_wrote_and_the_fixes_it_cannot_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FULLGRAPH_HOME", str(tmp_path / "home"))
    file = tmp_path / "model.py"
    file.write_text("x = 1\n")
    edits = FileEdits(str(file), (insert_lines("x = 1\n", 2, ["y = 2"]),))
    report = fix_report(FIX, GUARD_FIX, guards=(guard(7), guard(8), guard(8)))
    outcome = FixOutcome(report, FixPlan({str(file): edits}, guards=True), str(file))
    write_fixes(outcome, ("model.py", "--size", "2"), force=True)
    assert capsys.readouterr().err.splitlines() == [
        f"wrote {file}",
        "not written: value guards at model.py:7, model.py:8; "
        "use fullgraph run --fix model.py --size 2",
    ]
    assert file.read_text() == "x = 1\ny = 2\n"


@pytest.mark.parametrize("force", [False, True])
def test_a_slower_result_is_not_applied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, force: bool
) -> None:
    monkeypatch.setenv("FULLGRAPH_HOME", str(tmp_path / "home"))
    slower = replace(VERIFICATION, speedup=0.5, seconds_before=1.0, seconds_after=2.0)
    outcome = FixOutcome(fix_report(FIX, verification=slower), FixPlan(), "model.py")
    with pytest.raises(FullgraphError, match="slower with these fixes, so nothing was written"):
        write_fixes(outcome, ("model.py",), force=force)


def test_uncommitted_changes_are_not_written_over(cli: Cli, program: Path) -> None:
    git(cli.folder, "init")
    git(cli.folder, "add", "program.py")
    git(cli.folder, "commit", "-m", "first")
    changed = PROGRAM + "# mine\n"
    program.write_text(changed)
    done = cli("fix", "--apply", program.name)
    assert done.returncode == 2
    assert "uncommitted" in done.stderr
    assert program.read_text() == changed


COMMITS_ITSELF = """\
import subprocess

import torch


def f(x):
    return x * x.abs().max().item()


torch.compile(f, backend="eager")(torch.ones(2))
with open(__file__, "a") as file:
    file.write("LIMIT = 5\\n")
git = ["git", "-c", "user.name=a", "-c", "user.email=a@b"]
subprocess.run([*git, "commit", "-qam", "later"], check=True)
"""


def test_a_file_that_was_changed_meanwhile_is_not_written_even_if_it_is_committed(
    warm_cli: Cli, program: Path
) -> None:
    program.write_text(COMMITS_ITSELF)
    git(warm_cli.folder, "init")
    git(warm_cli.folder, "add", "program.py")
    git(warm_cli.folder, "commit", "-m", "first")
    done = warm_cli("fix", "--only", "settings", "--force", program.name, "--apply")
    assert done.returncode == 2
    assert "program.py was changed while fullgraph fix was running, so nothing" in done.stderr
    assert program.read_text() == COMMITS_ITSELF + "LIMIT = 5\n"


def test_without_a_rerun_nothing_outside_of_functions_is_written(
    warm_cli: Cli, program: Path
) -> None:
    done = warm_cli("fix", "--only", "settings", "--apply", "--force", "--no-rerun", program.name)
    assert done.returncode == 2
    assert "capture_scalar_outputs at line 11 changes code outside of functions" in done.stderr
    assert "leave out --no-rerun" in done.stderr
    assert program.read_text() == PROGRAM


def test_a_run_with_fixes_has_the_same_output_and_no_break(cli: Cli) -> None:
    program = cli.folder / "small.py"
    source = (
        "import torch\n\n\ndef f(x):\n    return x + 1 if x.sum() > 0 else x - 1\n\n\n"
        "print(torch.compile(f, backend='eager')(torch.ones(2)))\n"
    )
    program.write_text(source)
    done = cli("run", "--fix", "--format", "json", "-o", "run.json", program.name)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "tensor([2., 2.])\n"
    assert json.loads((cli.folder / "run.json").read_text())["summary"]["sites"] == 0
    assert program.read_text() == source


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("raise ValueError('my own')\n", "fails on its own: ValueError: my own"),
        ("import torch\nprint(torch.ones(1))\n", "compiles nothing; call torch.compile"),
        (
            "import torch\nf = torch.compile(lambda x: x)\n",
            "(<lambda>); call them with typical inputs",
        ),
        ("input()\n", "standard input"),
        ("import sys\nsys.exit(3)\n", "exit code 3"),
        ("raise SystemExit('no data\\nat all')\n", "it ended with SystemExit: no data; make"),
        (
            "import time, torch\n"
            "f = torch.compile(lambda x: x * time.perf_counter())\n"
            "f(torch.ones(1))\n",
            "not deterministic",
        ),
    ],
)
def test_a_program_that_cannot_be_fixed_gets_a_clear_message(
    warm_cli: Cli, source: str, message: str
) -> None:
    (warm_cli.folder / "bad.py").write_text(source)
    done = warm_cli("fix", "bad.py")
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr.split("\n")[0]


def test_a_program_without_breaks_is_left_alone(warm_cli: Cli) -> None:
    (warm_cli.folder / "good.py").write_text(
        "import torch\ntorch.compile(lambda x: x + 1, backend='eager')(torch.ones(2))\n"
    )
    done = warm_cli("fix", "good.py")
    assert done.returncode == 0
    assert "nothing to fix" in done.stdout


@pytest.mark.parametrize(
    ("grade", "message"),
    [
        ("assumes", "no fix is safe.*--unsafe writes them"),
        ("changes", "no fix is safe.*--unsafe writes them"),
        ("unverified", "no call runs the changed lines"),
    ],
)
def test_a_fix_that_is_not_safe_is_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, grade: Any, message: str
) -> None:
    monkeypatch.setenv("FULLGRAPH_HOME", str(tmp_path / "home"))
    outcome = FixOutcome(fix_report(replace(FIX, grade=grade)), FixPlan(), "model.py")
    with pytest.raises(FullgraphError, match=f"nothing was written: {message}"):
        write_fixes(outcome, ("model.py",), force=True)


def test_fixes_that_are_left_out_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FULLGRAPH_HOME", str(tmp_path / "home"))
    file = tmp_path / "model.py"
    file.write_text("x = 1\n")
    plan = FixPlan({str(file): FileEdits(str(file), (insert_lines("x = 1\n", 2, ["y = 2"]),))})
    other = replace(FIX, fixer="skip_logging", grade="changes")
    outcome = FixOutcome(fix_report(FIX, other), plan, str(file))
    write_fixes(outcome, ("model.py",), force=True)
    assert file.read_text() == "x = 1\ny = 2\n"
    shown = capsys.readouterr().err
    assert "not written, because not safe: skip_logging at line 7; --unsafe writes" in shown


# Its own backend runs only when the speed is measured: trials have backends of their own.
INTERRUPTED_LATE = """\
import os
import signal

import torch

COMMAND = os.getppid()


def interrupt(graph, inputs):
    # Only where the speed is measured, the original is compiled with this backend.
    if not any("item" in str(node.target) for node in graph.graph.nodes):
        os.kill(COMMAND, signal.SIGINT)
    return graph.forward


def f(x):
    return x * x.abs().max().item()


print(torch.compile(f, backend=interrupt)(torch.arange(4.0)).shape)
"""

INTERRUPTED_EARLY = """\
import os
import signal

import torch

PROGRAM, COMMAND = os.getpid(), os.getppid()


def f(x):
    if os.getpid() != PROGRAM:
        os.kill(COMMAND, signal.SIGINT)
    return x + 1


torch.compile(f, backend="eager")(torch.arange(4.0))
"""


def test_an_interrupt_while_the_speed_is_measured_keeps_the_result(cli: Cli) -> None:
    (cli.folder / "late.py").write_text(INTERRUPTED_LATE)
    done = cli("fix", "late.py")
    assert done.returncode == 0, done.stderr
    assert "torch._dynamo.config.capture_scalar_outputs = True" in done.stdout
    assert "verification: 1 recorded" in done.stdout
    assert "interrupted; the speed is not known" in done.stderr
    assert "Traceback" not in done.stderr


def test_an_interrupt_before_writing_writes_nothing(cli: Cli) -> None:
    (cli.folder / "late.py").write_text(INTERRUPTED_LATE)
    done = cli("fix", "--apply", "--force", "--format", "json", "-o", "fix.json", "late.py")
    assert done.returncode == 130
    assert "interrupted; nothing was written" in done.stderr
    assert (cli.folder / "late.py").read_text() == INTERRUPTED_LATE
    report = json.loads((cli.folder / "fix.json").read_text())
    assert report["summary"]["verified"]
    assert report["verification"]["speedup"] is None


def test_an_interrupt_of_the_search_says_that_nothing_is_verified(cli: Cli) -> None:
    (cli.folder / "early.py").write_text(INTERRUPTED_EARLY)
    done = cli("fix", "early.py")
    assert done.returncode == 130
    assert done.stderr == "fullgraph: interrupted; nothing is verified yet\n"
    assert not done.stdout

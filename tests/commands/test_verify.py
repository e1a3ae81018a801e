"""`fullgraph verify`: the verdict on changes that somebody else wrote."""

from __future__ import annotations

import difflib
import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from fullgraph.fix.confinement import missing
from tests.conftest import Cli

confined = pytest.mark.skipif(bool(missing()), reason=f"this system lacks {missing()}")

_STEP = """\
import torch

SCALE = 2.0


def step(x):
    if x.sum() > 0:
        return x * SCALE
    return x - 1
"""
_TRAIN = """\
import torch
from step import step

compiled = torch.compile(step, backend="eager")
compiled(torch.ones(3))
compiled(-torch.ones(3))
"""
_FIXED = _STEP.replace(
    """    if x.sum() > 0:
        return x * SCALE
    return x - 1
""",
    """    return torch.where(x.sum() > 0, x * SCALE, x - 1)
""",
)


@pytest.fixture
def project(warm_cli: Cli) -> Path:
    """A project with a program of two files."""
    (warm_cli.folder / "pyproject.toml").touch()
    (warm_cli.folder / "step.py").write_text(_STEP)
    (warm_cli.folder / "train.py").write_text(_TRAIN)
    return warm_cli.folder


def _diff(name: str, before: str, after: str) -> str:
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    return "".join(difflib.unified_diff(old, new, f"a/{name}", f"b/{name}"))


Verify = Callable[..., CompletedProcess[str]]


@pytest.fixture
def verify(warm_cli: Cli, project: Path) -> Verify:
    """Verify a new text of `step.py`, or a diff."""

    def run(after: str = "", *options: str, diff: str = "") -> CompletedProcess[str]:
        (project / "change.diff").write_text(diff or _diff("step.py", _STEP, after))
        return warm_cli("verify", "--patch", "change.diff", *options, "train.py")

    return run


def _json(done: CompletedProcess[str]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@confined
def test_a_right_change_is_verified_and_what_it_loses_is_named(
    verify: Verify, project: Path
) -> None:
    printing = _STEP.replace("    if x.sum()", '    print("step")\n    if x.sum()')
    (project / "step.py").write_text(printing)
    done = verify("", "--yes", "--format", "json", diff=_diff("step.py", printing, _FIXED))
    found = _json(done)
    assert done.returncode == 0
    assert (found["verdict"], found["unexercised"], found["refused"]) == ("verified", [], [])
    assert found["grade"] == "changes"
    assert found["changes"] == ["lines are no longer printed or logged: lost ['print: step']"]
    assert found["evidence"]["calls"] == 2
    assert found["evidence"]["varied"] > 0
    assert found["evidence"]["backends"] == ["eager", "aot_eager"]
    assert found["evidence"]["probes"] > 0
    assert found["breaks"] == {"before": 2, "after": 0}
    assert found["confinement"] == "Landlock, seccomp and limits"
    assert (project / "step.py").read_text() == printing


@confined
def test_a_change_that_fits_only_the_recorded_calls_is_different(verify: Verify) -> None:
    fits = _STEP.replace("return x * SCALE", "return torch.full((3,), 2.0)")
    done = verify(fits, "--yes")
    assert done.returncode == 1
    assert "different: the changed program does something else" in done.stdout
    assert "differs: call 1, other numbers, eager mode" in done.stdout


@confined
def test_a_new_branch_that_never_runs_is_unverified(verify: Verify) -> None:
    done = verify(
        _STEP.replace("return x - 1", "if x.sum() == -123.25:\n        return x\n    return x - 1"),
        "--yes", "--format", "json",
    )  # fmt: skip
    found = _json(done)
    assert done.returncode == 1
    assert (found["verdict"], found["grade"]) == ("unverified", None)
    assert {"file": "step.py", "line": 10} in [
        {"file": each["file"], "line": each["line"]} for each in found["unexercised"]
    ]


# It looks for what compares through names that no rule knows, and gives wrong results.
_ATTACK = """\
    modules = getattr(torch.sys, "modu" + "les")
    judge = modules["fullgraph.outcomes.compare"]
    judge.compare_outcomes.__defaults__ = None
    judge.torch.isclose = lambda *a, **k: torch.ones(1, dtype=torch.bool)
    judge._leaf_problem = lambda *a: ""
    for name, module in list(modules.items()):
        if name.startswith("fullgraph") and hasattr(module, "compare_outcomes"):
            module.compare_outcomes = lambda *a, **k: judge.Comparison()
    return x * 3
"""


@confined
def test_replacing_what_compares_changes_nothing(verify: Verify) -> None:
    attack = _STEP.replace("    if x.sum() > 0:\n", f"{_ATTACK}    if x.sum() > 0:\n")
    done = verify(attack, "--yes")
    assert done.returncode == 1
    assert "different" in done.stdout


@confined
def test_a_change_outside_of_functions_runs_as_a_whole(verify: Verify, project: Path) -> None:
    wrong = _STEP.replace("SCALE = 2.0", "SCALE = 2.5")
    done = verify(wrong, "--yes", "--format", "json")
    found = _json(done)
    assert (done.returncode, found["verdict"], found["reran"]) == (1, "different", True)
    assert any("differs by" in each["what"] for each in found["evidence"]["differences"])
    assert "the whole changed program runs as well" in done.stderr


@confined
def test_the_worktree_is_compared_with_a_revision(warm_cli: Cli, project: Path) -> None:
    def git(*arguments: str) -> None:
        identity = ["-c", "user.name=Test", "-c", "user.email=test@localhost"]
        subprocess.run(["git", *identity, *arguments], cwd=project, check=True, capture_output=True)

    git("init", "-q")
    git("add", "step.py", "train.py")
    git("commit", "-qm", "first")
    clean = warm_cli("verify", "--worktree", "--yes", "train.py")
    assert (clean.returncode, clean.stderr) == (
        2, "fullgraph: the work tree does not differ from HEAD; nothing to verify\n",
    )  # fmt: skip
    (project / "step.py").write_text(_STEP.replace("x - 1", "x - 2"))
    done = warm_cli("verify", "--worktree", "--yes", "train.py")
    assert done.returncode == 1
    assert "differs: call 2, eager mode" in done.stdout
    bad = warm_cli("verify", "--rev", "nope", "--yes", "train.py")
    assert bad.returncode == 2
    assert bad.stderr.startswith("fullgraph: nope is no revision of this repository")


@pytest.mark.parametrize(
    ("name", "after", "line", "why"),
    [
        ("train.py", _TRAIN.replace("ones", "zeros"), 5, "makes the inputs and calls the model"),
        ("train.py", _TRAIN.replace("torch.compile(", "dict(s="), 4, "removes torch.compile"),
        ("tests/test_step.py", "assert True\n", 1, "it is a test"),
        ("setup.cfg", "[tool]\n", 1, "it is not Python source"),
        ("../other.py", "y = 1\n", 1, "it is outside of the project"),
        ("step.py", _STEP.replace("x - 1", "x -"), 9, "not valid Python"),
        ("step.py", _STEP.replace("SCALE = 2.0", "import gc"), 3, "`gc` could reach the code"),
        ("step.py", _STEP.replace("x - 1", "__import__('os')"), 9, "could reach the code"),
        ("step.py", _STEP + "\ntorch.equal = max\n", 11, "replaces `torch.equal`"),
    ],
)  # fmt: skip
def test_a_line_that_must_not_change_is_refused(
    verify: Verify, project: Path, name: str, after: str, line: int, why: str
) -> None:
    file = project / name
    file.parent.mkdir(exist_ok=True)
    before = file.read_text() if file.exists() else "x = 1\n"
    file.write_text(before)
    done = verify("", "--format", "json", diff=_diff(name, before, after))
    found = _json(done)
    assert (done.returncode, found["verdict"], found["grade"]) == (1, "refused", None)
    assert any(each["line"] == line and why in each["why"] for each in found["refused"])


def test_a_new_file_is_refused(verify: Verify) -> None:
    done = verify(diff="--- /dev/null\n+++ b/new.py\n@@ -0,0 +1 @@\n+x = 1\n")
    assert done.returncode == 1
    assert "refused: new.py:1 it is a new file" in done.stdout


def test_a_change_outside_of_functions_is_refused_without_a_rerun(verify: Verify) -> None:
    done = verify(_STEP.replace("2.0", "2.5"), "--no-rerun")
    assert done.returncode == 1
    assert "step.py:3 it changes code outside of functions, and --no-rerun" in done.stdout


@pytest.mark.parametrize(
    ("diff", "message"),
    [
        ("nothing\n", "the patch changes nothing"),
        ("--- a/no.py\n+++ b/no.py\n@@ -1 +1 @@\n-a\n+b\n", "which does not exist"),
        ("--- a/step.py\n+++ b/step.py\n@@ -1 +1 @@\n-a\n+b\n", "not apply to step.py at line 1"),
        ("--- a/step.py\n+++ b/step.py\n@@ -1,5 +1,5 @@\n-a\n+b\n", "has fewer lines than it says"),
    ],
)  # fmt: skip
def test_a_patch_that_does_not_apply_is_one_line(verify: Verify, diff: str, message: str) -> None:
    done = verify(diff=diff)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert message in done.stderr


def test_nothing_runs_without_consent(verify: Verify) -> None:
    done = verify(_FIXED)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "which is not allowed yet; add --yes" in done.stderr


@pytest.mark.parametrize("options", [[], ["--patch", "x.diff", "--worktree"]])
def test_there_is_one_change(warm_cli: Cli, project: Path, options: list[str]) -> None:
    done = warm_cli("verify", *options, "train.py")
    assert done.returncode == 2
    assert "give one of --patch FILE, --rev REVISION and --worktree" in done.stderr


@confined
def test_a_program_that_fails_is_one_line(verify: Verify, project: Path) -> None:
    (project / "train.py").write_text("from step import step\nprint(1 / 0)\n")
    done = verify(_FIXED, "--yes")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "ZeroDivisionError" in done.stderr

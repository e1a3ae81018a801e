"""Check offered remedies on calls that the program does not make, so that no replay had them."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench._environment import PROJECT, variables
from bench._recompile_programs import Program

_SECONDS = 300
# How much compiled results may differ from eager ones.
_TOLERANCE = 1e-4
_VARIABLE = re.compile(r"[A-Z_]+=")


def wrong_remedies(program: Program, report: dict[str, Any], applied: Path) -> Iterator[str]:
    """Yield the remedies that raise or change a result on the program's other calls.

    `applied` is the copy of the program to which `--apply 1` wrote the first remedy, if that is a
    source change. The diffs of the others are applied with git; environment variables are set.
    """
    if not program.more_calls:
        return
    with TemporaryDirectory() as name:
        folder = Path(name)
        expected = _results(program, program.path, folder, TORCH_COMPILE_DISABLE="1")
        if isinstance(expected, str):
            yield f"the program's other calls fail in eager mode: {expected}"
            return
        for number, advice in enumerate(report["groups"], 1):
            for position, remedy in enumerate(advice["remedies"], 1):
                title = f"{number}.{position}"
                if title == "1.1" and remedy["kind"] == "source":
                    found = _written(program, applied, folder)
                else:
                    found = _tried(program, remedy, folder / title)
                if problem := _difference(expected, found):
                    yield f"remedy {title} {remedy['name']} on other calls: {problem}"


def _written(program: Program, applied: Path, folder: Path) -> Any:
    if applied.read_text(encoding="utf-8") == program.path.read_text(encoding="utf-8"):
        return "--apply changed nothing"
    return _results(program, applied, folder)


def _tried(program: Program, remedy: dict[str, Any], folder: Path) -> Any:
    """Return the results with a remedy, or the error; None if it is not a change to try."""
    if remedy["kind"] == "environment":
        folder.mkdir()
        return _results(program, program.path, folder, **environment_of(remedy["text"]))
    if remedy["kind"] == "unsafe" or not remedy["diff"]:
        return None
    copied = make_repository(program.path, folder)
    return _patch(copied, remedy["diff"]) or _results(program, copied, folder)


def make_repository(program: Path, folder: Path) -> Path:
    """Copy a program into a git repository of its own, which `--apply` asks for."""
    folder.mkdir()
    copied = folder / program.name
    shutil.copyfile(program, copied)
    identity = ["-c", "user.name=bench", "-c", "user.email=bench@localhost"]
    for command in (["init", "-q"], ["add", "."], [*identity, "commit", "-qm", "program"]):
        subprocess.run(["git", *command], cwd=folder, check=True, capture_output=True)
    return copied


def environment_of(text: str) -> dict[str, str]:
    """Return the environment variables of a remedy's text, such as `NAME="value"`."""
    words = (word for word in shlex.split(text) if _VARIABLE.match(word))
    return dict(word.split("=", 1) for word in words)


def _patch(program: Path, diff: str) -> str:
    """Apply a diff to the program's folder and return the error; empty if there is none."""
    # The diff names the program by whatever path it had; here there is only one file.
    diff = re.sub(r"^(---|\+\+\+) \S+", rf"\1 a/{program.name}", diff, flags=re.MULTILINE)
    done = subprocess.run(
        ["git", "apply", "--recount", "-"],
        cwd=program.parent, input=diff, capture_output=True, text=True,
    )  # fmt: skip
    return f"the diff does not apply: {_last_line(done.stderr)}" if done.returncode else ""


def _results(program: Program, path: Path, folder: Path, **more: str) -> Any:
    """Return the results of the program's other calls, or the error as a string."""
    import torch

    saved = folder / "results.pt"
    error = _python("-m", "bench._more_calls", str(path), str(saved), *program.more_calls, **more)
    if error is not None:
        return error
    return torch.load(saved, weights_only=True)


def _python(*arguments: str, **more: str) -> str | None:
    """Run Python and return the last line of its error; None if there is none."""
    try:
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=PROJECT, env=variables(**more), capture_output=True, text=True, timeout=_SECONDS,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return f"no result after {_SECONDS} s"
    return _last_line(done.stderr) if done.returncode else None


def _last_line(text: str) -> str:
    return (text.strip().splitlines() or ["no message"])[-1][:200]


def _difference(expected: Any, found: Any) -> str:
    """Return how results differ; empty if they do not."""
    import torch

    if found is None or isinstance(found, str):
        return found or ""
    try:
        torch.testing.assert_close(found, expected, rtol=_TOLERANCE, atol=_TOLERANCE)
    except (AssertionError, TypeError, ValueError) as error:
        return str(error).strip().splitlines()[0]
    return ""

"""What the tests share: a real call under torch.compile, and a real command line."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

import fullgraph
from fullgraph.model.report import Report

PROGRAMS = Path(__file__).parent / "programs"
# The same examples each time, however slow the machine: who changes nothing sees nothing new fail.
# HYPOTHESIS_PROFILE=default looks for other examples.
settings.register_profile("steady", derandomize=True, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))
# What a shell runs in the background ignores interrupts, and so would every program started here.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def compiled_call() -> Iterator[Callable[..., Report]]:
    """Compile a function, call it, and return the report; Dynamo is fresh before and after."""
    import torch

    def call(fn: Callable[..., Any], *args: Any, **options: Any) -> Report:
        torch._dynamo.reset()
        options.setdefault("backend", "eager")
        with fullgraph.watch() as session:
            torch.compile(fn, **options)(*args)
        return session.report()

    yield call
    torch._dynamo.reset()


class Cli:
    """Runs `fullgraph` as a user does, with sessions kept in a folder of the test's own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = {**os.environ, "FULLGRAPH_HOME": str(folder / "home"), "NO_COLOR": "1"}

    def command(self, *args: str) -> list[str]:
        return [str(Path(sys.executable).parent / "fullgraph"), *args]

    def __call__(
        self, *args: str, stdin: str = "", cwd: Path | None = None
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.command(*args),
            input=stdin,
            capture_output=True,
            text=True,
            env=self.environment,
            cwd=cwd or self.folder,
            check=False,
        )


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    return Cli(tmp_path)

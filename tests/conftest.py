"""Shared fixtures: a real call under torch.compile, and the real command line."""

from __future__ import annotations

import gc
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
# The C++ kernels that tests need are few and small. Inductor compiles them quickest without vector
# instructions, which it would try out first, without headers that are compiled beforehand, and
# without processes of its own.
os.environ.setdefault("TORCHINDUCTOR_VEC_ISA_OK", "0")
os.environ.setdefault("TORCHINDUCTOR_CPP_CACHE_PRECOMPILE_HEADERS", "0")
os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")
# The same examples each time, without a deadline, so that only a change of the code can fail.
# HYPOTHESIS_PROFILE=default tries other examples.
settings.register_profile("steady", derandomize=True, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))
# A shell starts background jobs with interrupts ignored, which programs started here would inherit.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish() -> None:
    """Make compiling cheaper: no timing of guards, and less garbage collection."""
    import torch._dynamo.guards

    # Dynamo times the guards of each compile for its logs; flushing the caches takes 20 ms.
    torch._dynamo.guards.profile_guard_manager = lambda *_: 0.0
    # Collections need not walk over what is loaded by now, nor come as often.
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000)


@pytest.fixture
def compiled_call() -> Iterator[Callable[..., Report]]:
    """Compile a function, call it and return the report; Dynamo is reset before and after."""
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
    """Runs `fullgraph` as a user does, with the sessions in a folder of the test."""

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


@pytest.fixture
def warm_cli(tmp_path: Path) -> Cli:
    """Return what runs `fullgraph` without starting Python or importing torch."""
    from tests.warm_cli import WarmCli

    return WarmCli(tmp_path)

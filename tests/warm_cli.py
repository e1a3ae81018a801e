"""Runs `fullgraph` in forks of the test process, which has loaded torch already.

For tests of what a command says and writes. How its processes start is tested with `Cli`.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, NoReturn

import torch

from fullgraph.__main__ import main
from fullgraph.fix.trials import server
from fullgraph.fix.trials.client import ProgramTrialRunner
from tests.conftest import Cli
from tests.fix.run_case import index_what_is_loaded

_TICK = 0.005


class ForkedProcess:
    """A function that runs in a fork of this process; used like a `subprocess.Popen`."""

    def __init__(self, function: Callable[[], None], files: Sequence[IO[bytes]]) -> None:
        self.returncode: int | None = None
        self._process = os.fork()
        if self._process == 0:
            _run_and_leave(function, files)

    def wait(self, seconds: float = float("inf")) -> int:
        """Return the exit code; TimeoutExpired if the process takes longer than that."""
        deadline = time.monotonic() + seconds
        while self.returncode is None:
            ended, status = os.waitpid(self._process, os.WNOHANG)
            if ended:
                self.returncode = os.waitstatus_to_exitcode(status)
            elif time.monotonic() > deadline:
                raise subprocess.TimeoutExpired("fork", seconds)
            else:
                time.sleep(_TICK)
        return self.returncode

    def kill(self) -> None:
        """End the process."""
        os.kill(self._process, signal.SIGKILL)


def _run_and_leave(function: Callable[[], None], files: Sequence[IO[bytes]]) -> NoReturn:
    """Run a function with these standard files, and end the process as Python would."""
    code: object = 0
    try:
        for number, file in enumerate(files):
            os.dup2(file.fileno(), number)
        # Pytest has replaced them.
        sys.stdin, sys.stdout, sys.stderr = (
            os.fdopen(n, mode, closefd=False) for n, mode in enumerate("rww")
        )
        # A fork does not have the threads of its parent.
        torch.set_num_threads(1)
        function()
    except SystemExit as leaving:
        code = leaving.code
    except BaseException:
        traceback.print_exc()
        code = 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code if isinstance(code, int) else int(code is not None))


def _start_server(
    runner: ProgramTrialRunner, *how: str, pass_fds: tuple[int, ...] = ()
) -> ForkedProcess:
    """Start what records a program and tries fixes; replaces `ProgramTrialRunner._start`."""

    def serve() -> None:
        if pass_fds:
            # Otherwise it would never see that the other side has closed them.
            os.close(runner._to_server)
            os.close(runner._from_server)
        server.main([*how, str(runner.folder), *runner._target])

    with (runner.folder / "output.txt").open("ab") as output, open(os.devnull, "rb") as nothing:
        return ForkedProcess(serve, (nothing, output, output))


class WarmCli(Cli):
    """Runs `fullgraph` as `Cli` does, without starting Python or importing torch."""

    def __call__(
        self, *args: str, stdin: str = "", cwd: Path | None = None
    ) -> subprocess.CompletedProcess[str]:
        index_what_is_loaded()
        with (
            tempfile.TemporaryFile() as given,
            tempfile.TemporaryFile() as output,
            tempfile.TemporaryFile() as errors,
        ):
            given.write(stdin.encode())
            given.seek(0)
            command = _Command(args, cwd or self.folder, self.environment)
            code = ForkedProcess(command, (given, output, errors)).wait()
            written = []
            for file in (output, errors):
                file.seek(0)
                written.append(file.read().decode())
        return subprocess.CompletedProcess(args, code, *written)


class _Command:
    """One command, in the process that is forked for it."""

    def __init__(
        self, arguments: Sequence[str], folder: Path, environment: Mapping[str, str]
    ) -> None:
        self._arguments = arguments
        self._folder = folder
        self._environment = environment

    def __call__(self) -> None:
        sys.argv = ["fullgraph", *self._arguments]
        # `python -m fullgraph` finds modules of the current folder first.
        sys.path.insert(0, str(self._folder))
        os.chdir(self._folder)
        os.environ.clear()
        os.environ.update(self._environment)
        ProgramTrialRunner._start = _start_server  # type: ignore[assignment,method-assign]
        main()

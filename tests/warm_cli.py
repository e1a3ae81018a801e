"""Runs `fullgraph` in forks of the test process, which has loaded torch already.

For tests of what a command says, writes and captures. How its processes start, and what a program
sees of them, is tested with `Cli`.
"""

from __future__ import annotations

import atexit
import os
import runpy
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import IO, Any, NoReturn

import torch

from fullgraph.__main__ import main
from fullgraph.capture import child_process, process
from fullgraph.capture.store import CAPTURE_VARIABLE
from fullgraph.fix.apply import copy_check
from fullgraph.fix.trials import copied_program
from fullgraph.fix.trials.client import ProgramTrialRunner
from fullgraph.model.owners import this_process
from fullgraph.recompiles import zygote
from tests.conftest import Cli
from tests.fix.run_case import index_what_is_loaded

_TICK = 0.005
_Popen = subprocess.Popen


class ForkedProcess:
    """A function that runs in a fork of this process; used like a `subprocess.Popen`."""

    def __init__(self, function: Callable[[], object], files: Sequence[IO[bytes]] = ()) -> None:
        self.returncode: int | None = None
        self.stdin: IO[bytes] | None = None
        self.stdout: IO[bytes] | None = None
        self.pid = os.fork()
        if self.pid == 0:
            _run_and_leave(function, files)

    @classmethod
    def with_pipes(cls, function: Callable[[], object]) -> ForkedProcess:
        """Start a function whose standard input and output are pipes to this process."""
        given, stdin = os.pipe()
        stdout, output = os.pipe()

        def run() -> None:
            # Otherwise it would never see that this process has closed them.
            os.close(stdin)
            os.close(stdout)
            function()

        with open(given, "rb") as read, open(output, "wb") as write:
            process = cls(run, (read, write, write))
        process.stdin, process.stdout = os.fdopen(stdin, "wb"), os.fdopen(stdout, "rb")
        return process

    def poll(self) -> int | None:
        """Return the exit code; None while the process runs."""
        if self.returncode is None:
            ended, status = os.waitpid(self.pid, os.WNOHANG)
            if ended:
                self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Return the exit code; TimeoutExpired if the process takes longer than that."""
        deadline = time.monotonic() + (float("inf") if timeout is None else timeout)
        while (code := self.poll()) is None:
            if time.monotonic() > deadline:
                raise subprocess.TimeoutExpired("fork", timeout or 0)
            time.sleep(_TICK)
        return code

    def terminate(self) -> None:
        """Ask the process to end."""
        os.kill(self.pid, signal.SIGTERM)

    def kill(self) -> None:
        """End the process."""
        os.kill(self.pid, signal.SIGKILL)


def _run_and_leave(function: Callable[[], object], files: Sequence[IO[bytes]]) -> NoReturn:
    """Run a function with these standard files, or the same ones, and end the process."""
    code: object = 0
    try:
        for number, file in enumerate(files):
            os.dup2(file.fileno(), number)
        # Pytest has replaced these.
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


def _run_script(command: Sequence[str], environment: Mapping[str, str]) -> None:
    """Run `python SCRIPT [ARG]...` and capture it, as in a process of `fullgraph run`."""
    os.environ.clear()
    os.environ.update(environment)
    atexit._clear()
    torch._dynamo.reset()
    child_process.start(environment[CAPTURE_VARIABLE])
    sys.argv, sys.orig_argv = list(command[1:]), list(command)
    script = os.path.abspath(sys.argv[0])
    sys.path[0] = os.path.dirname(script)
    try:
        runpy.run_path(script, run_name="__main__")
    finally:
        atexit._run_exitfuncs()


def _run_program(command: Sequence[str], environment: Mapping[str, str]) -> int:
    """Replaces the function that starts the program of `fullgraph run`."""
    return ForkedProcess(partial(_run_script, command, environment)).wait()


def start_process(command: Sequence[str], **options: Any) -> Any:
    """Start the processes of `fullgraph recompiles` as forks; replaces `subprocess.Popen`."""
    if zygote.__name__ in command:
        return ForkedProcess.with_pipes(partial(_replay, command))
    environment = options.get("env") or {}
    if CAPTURE_VARIABLE not in environment:
        return _Popen(command, **options)
    with open(os.devnull, "r+b") as nothing:
        return ForkedProcess(partial(_run_script, command, environment), (nothing,) * 3)


def _replay(command: Sequence[str]) -> None:
    # Those of this process would remove its temporary folders.
    atexit._clear()
    torch._dynamo.reset()
    sys.argv = list(command[command.index(zygote.__name__) :])
    os.setsid()
    zygote.main()


def start_server(
    runner: ProgramTrialRunner, *how: str, pass_fds: tuple[int, ...] = ()
) -> ForkedProcess:
    """Start what records a program and tries fixes; replaces `ProgramTrialRunner._start`."""

    def serve() -> None:
        if pass_fds:
            # Otherwise it would never see that the other side has closed them.
            os.close(runner._to_server)
            os.close(runner._from_server)
        if runner._variables is not os.environ:
            os.environ.clear()
            os.environ.update(runner._variables)
        import_module(runner.server).main([*how, str(runner.folder), *runner._target])

    with (runner.folder / "output.txt").open("ab") as output, open(os.devnull, "rb") as nothing:
        return ForkedProcess(serve, (nothing, output, output))


def start_copy(folder: Path, target: Sequence[str]) -> ForkedProcess:
    """Start what runs a changed copy of a program; replaces `copy_check.start_process`."""

    def run() -> None:
        os.setsid()
        # It changes this list.
        sys.path[:] = [os.getcwd(), *sys.path]
        copied_program.main([str(folder), *target])

    with open(os.devnull, "r+b") as nothing:
        return ForkedProcess(run, (nothing,) * 3)


class WarmCli(Cli):
    """Runs `fullgraph` as `Cli` does, without starting Python or importing torch.

    This includes the programs of `run`, if they are scripts, of `fix` and of `recompiles`.
    """

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
        this_process.cache_clear()
        os.environ.clear()
        os.environ.update(self._environment)
        ProgramTrialRunner._start = start_server  # type: ignore[assignment,method-assign]
        copy_check.start_process = start_copy  # type: ignore[assignment]
        process._run_passing_signals = _run_program  # type: ignore[assignment]
        subprocess.Popen = start_process  # type: ignore[assignment,misc]
        main()

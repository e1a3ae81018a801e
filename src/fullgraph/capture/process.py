"""Runs a program unchanged, in a child process, and captures it and what it starts in turn.

The child is plain `python SCRIPT ...`, so its arguments, streams, `sys.path[0]` and `__main__`
are what they would be without us. This process only waits, passes signals on, and ends as the
child ended.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from importlib import util
from pathlib import Path
from typing import NoReturn

import msgspec

from fullgraph.capture.header import describe_process
from fullgraph.capture.store import CAPTURE_VARIABLE
from fullgraph.errors import CaptureError, FullgraphError, ProgramError
from fullgraph.files import replace_file
from fullgraph.installed_torch import OLDEST_TORCH, release_of, torch_folder, torch_version
from fullgraph.model.events import End
from fullgraph.model.session import SUFFIX, LineEncoder

_BOOTSTRAP = Path(__file__).parent / "bootstrap"
_PASSED_ON = frozenset(
    getattr(signal, name)
    for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2")
    if hasattr(signal, name)
)


def check_program(target: Sequence[str]) -> None:
    """Say at once what would fail anyway. `target` is what would follow `python`."""
    if not target:
        raise ProgramError("there is no program to run: name a script, or a module with -m")
    if target[0] == "-m":
        if len(target) == 1:
            raise ProgramError("-m needs the name of a module")
        _check_module(target[1])
    elif target[0] != "-":
        _check_script(Path(target[0]))


def check_torch() -> None:
    """torch is looked up, not imported: that is the program's business."""
    version = torch_version()
    if torch_folder() is None or version is None:
        raise CaptureError(
            f"torch is not installed for {sys.executable}: pip install torch, or run fullgraph in "
            "the environment of the program"
        )
    if release_of(version) < OLDEST_TORCH:
        raise CaptureError(f"torch {version} is too old: fullgraph needs torch 2.8 or later")


def run_program(target: Sequence[str], folder: Path) -> int:
    """Run `python TARGET...`; sessions go to `folder`. Returns the exit code, or minus a signal."""
    runner = _RunnerSession(target, folder)
    # A script whose name looks like an option is told apart as python itself wants it.
    separator = ["--"] if target[0].startswith("-") and target[0] not in ("-", "-m") else []
    command = [sys.executable, *separator, *target]
    environment = _environment(folder)
    started = time.perf_counter()
    if hasattr(signal, "sigwaitinfo"):
        code = _run_passing_signals(command, environment)
    else:
        code = _run_simply(command, environment)
    with contextlib.suppress(FullgraphError):
        # Whatever became of the folder, the program's own end is what counts.
        runner.ended(time.perf_counter() - started)
    return code


def end_like(code: int) -> NoReturn:
    """End as a process with this exit code did; a negative one is the signal that ended it."""
    if code >= 0 or sys.platform == "win32":
        sys.exit(code if code >= 0 else 128 - code)
    import resource

    # The program has left its own core file, if any.
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    number = -code
    if number != signal.SIGKILL:
        signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [number])
    os.kill(os.getpid(), number)
    sys.exit(128 - code)


def _check_script(script: Path) -> None:
    if not script.exists():
        raise ProgramError(f"there is no file {script}")
    if script.is_dir() and not (script / "__main__.py").exists():
        raise ProgramError(f"{script} is a directory without a __main__.py: name a script in it")
    if script.suffix not in (".py", "") or script.is_dir():
        return
    try:
        source = script.read_bytes()
        # Compiling also finds what ast.parse lets pass, such as a return outside a function.
        compile(source, str(script), "exec", dont_inherit=True)
    except OSError as error:
        raise ProgramError(f"cannot read {script}: {error.strerror or error}") from None
    except SyntaxError as error:
        place = f"{script}:{error.lineno}" if error.lineno else str(script)
        raise ProgramError(f"{place}: {error.msg}: the script is not valid Python") from None
    except ValueError as error:
        raise ProgramError(f"{script} is not a Python script: {error}") from None


def _check_module(name: str) -> None:
    """Only the top-level package: looking further would import it, here instead of there."""
    top = name.split(".", 1)[0]
    # What python itself puts there for -m; an empty entry is the working directory.
    here = ""
    sys.path.insert(0, here)
    try:
        found = util.find_spec(top) is not None
    except (ImportError, ValueError):
        found = False
    finally:
        sys.path.remove(here)
    if not found:
        raise ProgramError(f"there is no module named {top}")


def _environment(folder: Path) -> dict[str, str]:
    environment = dict(os.environ)
    environment[CAPTURE_VARIABLE] = str(folder.resolve())
    # An empty entry would mean the working directory, so nothing is joined to nothing.
    paths = [str(_BOOTSTRAP), environment.get("PYTHONPATH", "")]
    environment["PYTHONPATH"] = os.pathsep.join(path for path in paths if path)
    return environment


class _RunnerSession:
    """Writes the runner's own session: the command before it starts, then that it ended."""

    def __init__(self, target: Sequence[str], folder: Path) -> None:
        self._encoder = LineEncoder()
        self._path = folder / f"0-run{SUFFIX}"
        header = msgspec.structs.replace(
            describe_process(), role="runner", command=("python", *target)
        )
        self._header = self._encoder.header(header)
        replace_file(self._path, [self._header])

    def ended(self, seconds: float) -> None:
        replace_file(self._path, [self._header, self._encoder.event(End(round(seconds, 6)))])


def _run_passing_signals(command: list[str], environment: dict[str, str]) -> int:
    """Wait for the child, and for signals that somebody sends to us but means for the program."""
    # Where whoever started us ignores it, we would never hear that the child has ended.
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    watched = {*_PASSED_ON, signal.SIGCHLD}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, watched)
    try:
        child = os.posix_spawn(
            command[0],
            command,
            environment,
            setsigmask=before,
            # Python ignores these two; a program started by a shell would not find them ignored.
            setsigdef=[signal.SIGPIPE, signal.SIGXFSZ],
        )
        while True:
            received = signal.sigwaitinfo(watched)
            if received.si_signo == signal.SIGCHLD:
                ended, status = os.waitpid(child, os.WNOHANG)
                if ended:
                    return os.waitstatus_to_exitcode(status)
            elif received.si_code <= 0:
                # Sent by a process to us alone. What the terminal sends, the child gets as well.
                with contextlib.suppress(ProcessLookupError):
                    os.kill(child, received.si_signo)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _run_simply(command: Sequence[str], environment: dict[str, str]) -> int:
    """Where signals cannot be waited for: the terminal's Ctrl-C reaches the child by itself."""
    previous = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        return subprocess.run(command, env=environment, check=False).returncode
    finally:
        signal.signal(signal.SIGINT, previous)

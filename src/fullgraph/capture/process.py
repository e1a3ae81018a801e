"""Run a program unchanged in a child process and capture it and its child processes.

The child is plain `python SCRIPT ...`, so its arguments, streams, `sys.path[0]` and `__main__` are
the same as without fullgraph. This process only waits, passes signals on, and ends as the child
ended.
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

from fullgraph.capture.group_witness import GroupWitness
from fullgraph.capture.header import describe_process
from fullgraph.capture.measures import MEASURE_VARIABLE, requested_measures
from fullgraph.capture.store import CAPTURE_VARIABLE
from fullgraph.errors import CaptureError, FullgraphError, ProgramError
from fullgraph.files import replace_file, unreadable
from fullgraph.installed_torch import OLDEST_TORCH, release_of, torch_folder, torch_version
from fullgraph.model.events import End
from fullgraph.model.session import SUFFIX, LineEncoder

_BOOTSTRAP = Path(__file__).parent / "bootstrap"
_FORWARDED_SIGNALS = frozenset(
    getattr(signal, name)
    for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2")
    if hasattr(signal, name)
)


def check_program(target: Sequence[str]) -> None:
    """Raise a `ProgramError` if `python TARGET...` cannot start."""
    if not target:
        raise ProgramError("there is no program to run; name a script, or a module with -m")
    if target[0] == "-m":
        if len(target) == 1:
            raise ProgramError("-m needs the name of a module; write -m MODULE")
        _check_module(target[1])
    elif target[0] != "-":
        _check_script(Path(target[0]))


def check_torch() -> None:
    """Raise a `CaptureError` if torch is missing or too old; torch is not imported."""
    version = torch_version()
    if torch_folder() is None or version is None:
        raise CaptureError(
            f"torch is not installed for {sys.executable}; pip install torch, or run fullgraph in "
            "the environment of the program"
        )
    if release_of(version) < OLDEST_TORCH:
        raise CaptureError(f"torch {version} is too old; fullgraph needs torch 2.8 or later")


def run_program(target: Sequence[str], folder: Path, measures: Sequence[str] = ()) -> int:
    """Run `python TARGET...` with sessions in `folder`; return its exit code, or minus a signal.

    `measures` are the modules of `capture/measures` that it takes as well.
    """
    runner = _RunnerSession(target, folder)
    command = python_command(target)
    environment = capture_environment(folder, measures)
    started = time.perf_counter()
    if hasattr(signal, "sigwaitinfo"):
        code = _run_passing_signals(command, environment)
    else:
        code = _run_without_signals(command, environment)
    with contextlib.suppress(FullgraphError):
        # The program may have removed the folder; its exit code still counts.
        runner.ended(time.perf_counter() - started)
    return code


def end_like(code: int) -> NoReturn:
    """End this process with an exit code, or with a signal if the code is negative."""
    if code >= 0 or sys.platform == "win32":
        sys.exit(code if code >= 0 else 128 - code)
    import resource

    # The program has written its own core file, if any.
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    number = -code
    if number != signal.SIGKILL:
        signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [number])
    os.kill(os.getpid(), number)
    sys.exit(128 - code)


def _check_script(script: Path) -> None:
    if not script.exists():
        raise ProgramError(f"there is no file {script}; name an existing script")
    if script.is_dir() and not (script / "__main__.py").exists():
        raise ProgramError(f"{script} is a directory without a __main__.py; name a script in it")
    if script.suffix not in (".py", "") or script.is_dir():
        return
    try:
        source = script.read_bytes()
        # Compiling also finds errors that ast.parse accepts, such as a return outside a function.
        compile(source, str(script), "exec", dont_inherit=True)
    except OSError as error:
        raise ProgramError(unreadable(script, error)) from None
    except SyntaxError as error:
        place = f"{script}:{error.lineno}" if error.lineno else str(script)
        raise ProgramError(f"{place}: {error.msg}; the script is not valid Python") from None
    except ValueError as error:
        raise ProgramError(f"{script} is not a Python script: {error}") from None


def _check_module(name: str) -> None:
    """Check only the top-level package: finding a submodule would import it in this process."""
    top = name.split(".", 1)[0]
    # python -m puts the working directory first; an empty entry means the same.
    here = ""
    sys.path.insert(0, here)
    try:
        found = util.find_spec(top) is not None
    except (ImportError, ValueError):
        found = False
    finally:
        sys.path.remove(here)
    if not found:
        raise ProgramError(f"there is no module named {top}; check the name and the environment")


def python_command(target: Sequence[str]) -> list[str]:
    """Return the command that runs `python TARGET...`."""
    # python needs -- before a script whose name looks like an option.
    separator = ["--"] if target[0].startswith("-") and target[0] not in ("-", "-m") else []
    return [sys.executable, *separator, *target]


def capture_environment(folder: Path, measures: Sequence[str] = ()) -> dict[str, str]:
    """Return the environment of a program whose sessions are written to `folder`."""
    environment = dict(os.environ)
    if measures:
        # The user may have asked for others.
        names = dict.fromkeys([*requested_measures(), *measures])
        environment[MEASURE_VARIABLE] = ",".join(names)
    environment[CAPTURE_VARIABLE] = str(folder.resolve())
    # An empty entry would mean the working directory.
    paths = [str(_BOOTSTRAP), environment.get("PYTHONPATH", "")]
    environment["PYTHONPATH"] = os.pathsep.join(path for path in paths if path)
    return environment


class _RunnerSession:
    """Writes the session of the runner: the command at the start, and that it ended."""

    def __init__(self, target: Sequence[str], folder: Path) -> None:
        self._encoder = LineEncoder()
        self._path = folder / f"0-run{SUFFIX}"
        header = msgspec.structs.replace(
            describe_process(), role="runner", command=("python", *target)
        )
        self._header = self._encoder.header(header)
        replace_file(self._path, [self._header])

    def ended(self, seconds: float) -> None:
        """Write that the program ended."""
        replace_file(self._path, [self._header, self._encoder.event(End(round(seconds, 6)))])


def _run_passing_signals(command: list[str], environment: dict[str, str]) -> int:
    """Run the child and pass on the signals that are sent to this process alone."""
    # If the parent ignores SIGCHLD, this process would not notice the end of the child.
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    watched = {*_FORWARDED_SIGNALS, signal.SIGCHLD}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, watched)
    witness = GroupWitness()
    try:
        child = os.posix_spawn(
            command[0],
            command,
            environment,
            setsigmask=before,
            # Python ignores these two signals; a shell starts programs with the default action.
            setsigdef=[signal.SIGPIPE, signal.SIGXFSZ],
        )
        return _pass_signals(child, watched, witness)
    finally:
        witness.close()
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _pass_signals(child: int, watched: set[signal.Signals], witness: GroupWitness) -> int:
    """Pass signals on until the child ends; return its exit code, or minus a signal."""
    while True:
        received = signal.sigwaitinfo(watched)
        if received.si_signo == signal.SIGCHLD:
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                return os.waitstatus_to_exitcode(status)
        # The terminal and `kill -- -GROUP` send a signal to the program as well.
        elif not _is_for_the_group(received.si_signo, witness):
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, received.si_signo)


def _is_for_the_group(number: int, witness: GroupWitness) -> bool:
    """Return whether a signal that this process has taken was sent to its group.

    A pending signal does not count how often it was sent. If the group gets it again before the
    witness is asked, the witness has one and this process two, so all of them are taken together.
    """
    is_for_the_group = False
    while witness.was_signaled(number):
        is_for_the_group = True
        signal.sigtimedwait([number], 0)
    return is_for_the_group


def _run_without_signals(command: Sequence[str], environment: dict[str, str]) -> int:
    """Run the child on systems without sigwaitinfo; Ctrl-C reaches the child by itself."""
    previous = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        return subprocess.run(command, env=environment, check=False).returncode
    finally:
        signal.signal(signal.SIGINT, previous)

"""Signals under `fullgraph run`: the program gets each of them exactly as often as under python."""

from __future__ import annotations

import os
import pty
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.conftest import PROGRAMS, Cli

PROGRAM = str(PROGRAMS / "signals.py")

pytestmark = pytest.mark.skipif(
    not hasattr(signal, "sigwaitinfo"), reason="this system passes no signals on"
)


class Running:
    """A program under `fullgraph run` that is the leader of its process group."""

    def __init__(self, cli: Cli, *before: str) -> None:
        self.process = subprocess.Popen(
            [*before, *cli.command("run", PROGRAM)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=cli.environment,
            process_group=0,
        )
        assert self.line() == "ready"

    def line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def synchronize(self) -> None:
        """Check that nothing else follows the signals that were sent up to now.

        fullgraph takes the pending signal with the lowest number first, so a signal that it passes
        on comes before this one.
        """
        self.process.send_signal(signal.SIGUSR1)
        assert self.line() == "SIGUSR1"

    def end(self) -> None:
        """End the program by its input, and check that it got nothing else."""
        assert self.process.communicate("end\n")[0] == ""
        assert self.process.returncode == 0


@pytest.fixture
def running(cli: Cli) -> Iterator[Running]:
    running = Running(cli)
    yield running
    running.process.kill()
    running.process.communicate()


def send_to_group(running: Running, number: int) -> None:
    os.killpg(running.process.pid, number)


def send_to_fullgraph(running: Running, number: int) -> None:
    running.process.send_signal(number)


@pytest.mark.parametrize("send", [send_to_group, send_to_fullgraph])
def test_a_signal_reaches_the_program_once_each_time(
    running: Running, send: Callable[[Running, int], None]
) -> None:
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGINT):
        send(running, number)
        assert running.line() == number.name
        running.synchronize()
    running.end()


def test_signals_to_the_group_and_to_fullgraph_do_not_hide_each_other(running: Running) -> None:
    for send in (send_to_group, send_to_fullgraph, send_to_group, send_to_fullgraph):
        send(running, signal.SIGINT)
        assert running.line() == "SIGINT"
        running.synchronize()
    running.end()


def test_many_signals_to_the_group_are_not_passed_on_once_more(running: Running) -> None:
    # The program is ready for the next signal before fullgraph has looked at the last one.
    for _ in range(100):
        send_to_group(running, signal.SIGINT)
        assert running.line() == "SIGINT"
    running.synchronize()
    running.end()


def test_a_program_that_signals_its_own_group_gets_the_signal_once(cli: Cli) -> None:
    script = cli.folder / "script.py"
    text = Path(PROGRAM).read_text()
    signaling = text.replace('print("ready"', 'os.killpg(0, signal.SIGINT)\nprint("ready"')
    script.write_text(f"import os\n{signaling}")
    command = cli.command("run", str(script))
    result = subprocess.run(
        command, input="end\n", capture_output=True, text=True, env=cli.environment,
        process_group=0,
    )  # fmt: skip
    assert result.stdout.split() == ["SIGINT", "ready"]
    assert result.returncode == 0


class Terminal:
    """A terminal whose session leader is the given command."""

    def __init__(self, command: list[str], environment: dict[str, str]) -> None:
        self.process, self._terminal = pty.fork()
        if self.process == 0:
            try:
                os.execve(command[0], command, environment)
            finally:
                os._exit(127)
        self._seen = b""

    def type(self, keys: str) -> None:
        os.write(self._terminal, keys.encode())

    def wait_for(self, text: str) -> str:
        """Return the output up to `text`, which later calls do not see again."""
        while text.encode() not in self._seen:
            try:
                self._seen += os.read(self._terminal, 4096)
            except OSError:
                raise AssertionError(f"no {text!r} in {self._seen.decode()!r}") from None
        found, _, self._seen = self._seen.partition(text.encode())
        return found.decode()

    def exit_code(self) -> int:
        """Read the remaining output and return how the session leader ended."""
        try:
            while os.read(self._terminal, 4096):
                pass
        except OSError:
            # Every process has closed the other side.
            pass
        os.close(self._terminal)
        return os.waitstatus_to_exitcode(os.waitpid(self.process, 0)[1])


def test_keys_of_the_terminal_reach_the_program_once_each_time(cli: Cli) -> None:
    terminal = Terminal(cli.command("run", PROGRAM), cli.environment)
    terminal.wait_for("ready")
    for keys, name in (("\x03", "SIGINT"), ("\x03", "SIGINT"), ("\x1c", "SIGQUIT")):
        terminal.type(keys)
        terminal.wait_for(name)
    os.kill(terminal.process, signal.SIGUSR1)
    assert "SIG" not in terminal.wait_for("SIGUSR1")
    terminal.type("some words\n")
    terminal.wait_for("read some words")
    terminal.type("end\n")
    assert terminal.exit_code() == 0


# Python notices a signal between two short waits; one that comes just before a read is late.
WAITS = "import time\nprint('ready')\nwhile True:\n    time.sleep(0.05)\n"


def test_ctrl_c_ends_a_program_as_python_ends_it(cli: Cli) -> None:
    (cli.folder / "waits.py").write_text(WAITS)
    script = cli.command("run", str(cli.folder / "waits.py"))
    codes = []
    for command in ([sys.executable, script[-1]], script):
        terminal = Terminal(command, cli.environment)
        terminal.wait_for("ready")
        terminal.type("\x03")
        terminal.wait_for("KeyboardInterrupt")
        codes.append(terminal.exit_code())
    assert codes == [-signal.SIGINT, -signal.SIGINT]


# What a shell does for its jobs. A real one loses keys that are typed while it prints its prompt.
SHELL = """
import os, signal, sys
signal.signal(signal.SIGTTOU, signal.SIG_IGN)
job = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ, setpgroup=0, setsigdef=[signal.SIGTTOU])
os.tcsetpgrp(0, job)
stopped = os.WIFSTOPPED(os.waitpid(job, os.WUNTRACED)[1])
print("the job has stopped" if stopped else "the job has ended", flush=True)
os.killpg(job, signal.SIGCONT)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(job, 0)[1]))
"""


def test_a_shell_can_stop_and_continue_the_program(cli: Cli) -> None:
    command = [sys.executable, "-c", SHELL, *cli.command("run", PROGRAM)]
    terminal = Terminal(command, cli.environment)
    terminal.wait_for("ready")
    terminal.type("\x1a")
    terminal.wait_for("the job has stopped")
    terminal.wait_for("SIGCONT")
    terminal.type("some words\n")
    terminal.wait_for("read some words")
    terminal.type("\x03")
    terminal.wait_for("SIGINT")
    terminal.type("end\n")
    terminal.wait_for("nothing was compiled")
    assert terminal.exit_code() == 0


def test_a_script_stops_at_an_interrupted_program(cli: Cli) -> None:
    (cli.folder / "waits.py").write_text(WAITS)
    command = shlex.join(cli.command("run", str(cli.folder / "waits.py")))
    terminal = Terminal(["/bin/sh", "-c", f"{command}; echo went on"], cli.environment)
    terminal.wait_for("ready")
    terminal.type("\x03")
    assert "went on" not in terminal.wait_for("nothing was compiled")
    assert terminal.exit_code() == -signal.SIGINT

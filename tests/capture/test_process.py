"""`fullgraph run`: the program is run as python would run it, and captured however it ends."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from fullgraph.analysis import analyze
from fullgraph.model.events import Break, Call, Cost, Guards, Write
from fullgraph.model.session import load_all
from tests.conftest import PROGRAMS, Cli


@pytest.mark.parametrize(
    "target", [["facts.py", "--epochs", "1", "-o", "x"], ["-m", "facts", "--format", "json"]]
)
def test_a_program_sees_what_python_would_show_it(cli: Cli, target: list[str]) -> None:
    plain = subprocess.run(
        [sys.executable, *target], input="some input", capture_output=True, text=True, cwd=PROGRAMS
    )
    result = cli("run", *target, stdin="some input", cwd=PROGRAMS)
    assert json.loads(plain.stdout)["input"] == "some input"
    assert result.stdout == plain.stdout
    assert result.returncode == plain.returncode == 0


def test_the_users_own_sitecustomize_still_runs(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("import sys; sys.customised = 'yes'")
    (tmp_path / "script.py").write_text(
        "import sys, sitecustomize; print(sys.customised, sitecustomize.__file__)"
    )
    cli.environment["PYTHONPATH"] = str(tmp_path)
    result = cli("run", "script.py")
    assert result.stdout == f"yes {tmp_path / 'sitecustomize.py'}\n"


class Finished(NamedTuple):
    """A run of breaks.py that has ended with an exception, and the folder of its sessions."""

    result: subprocess.CompletedProcess[str]
    sessions: Path


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Finished:
    cli = Cli(tmp_path_factory.mktemp("finished"))
    sessions = cli.folder / "kept"
    result = cli("run", "--session", str(sessions), str(PROGRAMS / "breaks.py"), "raise")
    return Finished(result, sessions)


def test_a_break_is_reported_after_the_output_of_the_program(finished: Finished) -> None:
    assert (finished.result.returncode, finished.result.stdout) == (1, "hello\n")
    error, _, report = finished.result.stderr.partition("ValueError: the program's own failure\n")
    assert error.startswith("Traceback")
    assert "1 root cause, 1 break site" in report
    assert "breaks.py:14" in report
    assert "ended unexpectedly" not in report


def test_a_plain_run_measures_nothing(finished: Finished) -> None:
    sessions = load_all((str(finished.sessions),))
    events = [event for session in sessions for event in session.events]
    assert any(isinstance(event, Break) for event in events)
    assert not any(isinstance(event, Call | Cost | Guards | Write) for event in events)
    assert analyze(sessions).cost is None


def test_the_report_is_complete_if_the_program_is_killed(cli: Cli) -> None:
    result = cli("run", str(PROGRAMS / "breaks.py"), "kill")
    assert (result.returncode, result.stdout) == (-9, "hello\n")
    assert "1 root cause, 1 break site" in result.stderr
    assert "breaks.py:14" in result.stderr
    assert "ended unexpectedly" in result.stderr


def start_waiting(cli: Cli) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        cli.command("run", str(PROGRAMS / "breaks.py"), "wait"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=cli.environment,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "hello\n"
    assert process.stdout.readline() == "ready\n"
    return process


def test_signals_reach_the_program_and_it_ends_as_under_python(cli: Cli) -> None:
    process = start_waiting(cli)
    process.send_signal(signal.SIGTERM)
    assert process.stdout is not None
    assert process.stdout.readline() == "terminated\n"
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate()
    assert process.returncode == -signal.SIGINT
    assert "KeyboardInterrupt" in errors
    assert "1 root cause, 1 break site" in errors


def test_after_sigkill_of_everything_report_shows_what_was_captured(cli: Cli) -> None:
    process = start_waiting(cli)
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    process.kill()
    for child in children:
        # The process that only watches signals may have ended already.
        with contextlib.suppress(ProcessLookupError):
            os.kill(int(child), signal.SIGKILL)
    process.communicate()
    result = cli("report")
    assert result.returncode == 0
    assert "1 root cause, 1 break site" in result.stdout
    assert "ended unexpectedly" in result.stdout


def test_processes_that_the_program_starts_are_captured_and_merged(cli: Cli) -> None:
    before, after = ["spawn", "forkserver", "launcher", "dataloader"], ["fork"]
    ways = before + after
    output = ("--session", "kept", "--format", "json", "-o", "report.json")
    result = cli("run", *output, str(PROGRAMS / "workers.py"), *before, "import", *after)
    assert result.returncode == 0, result.stderr
    numbers = dict(line.split() for line in result.stdout.splitlines())
    captured = [file.stem.split("-")[1] for file in (cli.folder / "kept").glob("*.jsonl")]
    assert [way for way, number in numbers.items() if number in captured] == ways
    report = json.loads((cli.folder / "report.json").read_text())
    assert report["summary"]["sites"] == 1
    assert report["summary"]["occurrences"] == len(ways)
    assert report["environment"]["processes"] == len(ways)
    assert report["environment"]["killed"] == 0


def test_a_program_that_compiles_nothing_says_so_in_one_line(cli: Cli) -> None:
    (cli.folder / "plain.py").write_text("print('done')")
    result = cli("run", "plain.py")
    assert result.stdout == "done\n"
    assert result.stderr.strip().splitlines() == [
        "fullgraph  nothing was compiled: the program ran no code under torch.compile"
    ]


def test_a_missing_hook_is_a_clear_error_and_the_program_still_runs(cli: Cli) -> None:
    (cli.folder / "script.py").write_text(
        "import fullgraph.capture.dynamo_listener as live\n"
        "bad = live.HOOKS[0]._replace(place='torch._dynamo.convert_frame:gone')\n"
        "live.HOOKS = (bad, *live.HOOKS[1:])\n"
        "import torch\n"
        "print(torch.compile(lambda x: x + 1, backend='eager')(torch.ones(1)))\n"
        "__import__('gc').freeze()\n"
    )
    result = cli("run", "script.py")
    assert result.stdout == "tensor([2.])\n"
    assert "nothing was captured" in result.stderr
    assert "has no torch._dynamo.convert_frame.gone" in " ".join(result.stderr.split())
    assert result.returncode == 2


def test_a_session_folder_of_your_own_can_be_reported_again(cli: Cli, finished: Finished) -> None:
    again = cli("report", str(finished.sessions))
    assert finished.result.stderr.endswith(f"\n{again.stdout}")
    twice = cli("run", "--session", str(finished.sessions), str(PROGRAMS / "breaks.py"))
    assert twice.returncode == 2
    assert "is not empty" in twice.stderr


def test_neither_a_closed_standard_error_nor_a_read_only_home_change_how_it_ends(cli: Cli) -> None:
    del cli.environment["FULLGRAPH_HOME"]
    cli.environment |= {"XDG_STATE_HOME": "/proc/nowhere", "TMPDIR": str(cli.folder)}
    command = " ".join(cli.command("run", str(PROGRAMS / "breaks.py"), "exit"))
    result = subprocess.run(
        ["sh", "-c", f"{command} 2>&-"], capture_output=True, text=True, env=cli.environment
    )
    assert (result.returncode, result.stdout) == (7, "hello\n")
    assert "1 root cause, 1 break site" in cli("report").stdout


# A script and a module with the names of modules of fullgraph. The script also clears the
# environment, closes all files, and opens others under the same descriptors.
DISTURBING = """\
OWNER = 'the program'
if __name__ == '__main__':
    import fullgraph, msgspec, os, sys
    print('once', ascii(sys.argv[1]))
    print('err', file=sys.stderr)
    os.environ.clear()
    import torch
    torch.compile(lambda x: x + 1, backend='eager')(torch.ones(3))
    os.closerange(3, 256)
    files = [open(f'data{n}', 'w') for n in range(5)]
    torch.compile(lambda x: x * 2, backend='eager')(torch.ones(3))
    import fullgraph, msgspec
    print(fullgraph.OWNER, msgspec.OWNER, sep=', ')
    __import__('gc').freeze()
"""


class Disturbed(NamedTuple):
    """A run of DISTURBING that has ended: its output, its report and its folder."""

    result: subprocess.CompletedProcess[bytes]
    report: dict[str, Any]
    folder: Path


@pytest.fixture(scope="module")
def disturbed(tmp_path_factory: pytest.TempPathFactory) -> Disturbed:
    cli = Cli(tmp_path_factory.mktemp("disturbed"))
    (cli.folder / "fullgraph.py").write_text(DISTURBING)
    (cli.folder / "msgspec.py").write_text("OWNER = 'the program'\n")
    command = cli.command("run", "--format", "json", "-o", "report.json", "fullgraph.py")
    # The argument is not UTF-8.
    result = subprocess.run(
        [*command, b"\xff"], capture_output=True, env=cli.environment, cwd=cli.folder
    )
    return Disturbed(result, json.loads((cli.folder / "report.json").read_text()), cli.folder)


def test_json_goes_to_the_file_and_the_output_does_not_change(disturbed: Disturbed) -> None:
    assert (disturbed.result.returncode, disturbed.result.stderr) == (0, b"err\n")
    environment = disturbed.report["environment"]
    assert environment["command"][-2].endswith("fullgraph.py")
    assert environment["torch"].startswith("2.")
    assert environment["settings"]["capture_scalar_outputs"] is False


def test_a_script_named_fullgraph_is_run_once_with_any_arguments(disturbed: Disturbed) -> None:
    assert disturbed.result.stdout.splitlines()[0] == b"once '\\udcff'"
    assert disturbed.result.stdout.count(b"once") == 1


def test_modules_of_the_program_may_have_the_names_of_modules_of_fullgraph(
    disturbed: Disturbed,
) -> None:
    assert disturbed.result.stdout.splitlines()[1] == b"the program, the program"


def test_a_file_that_reuses_the_descriptor_is_not_written_to(disturbed: Disturbed) -> None:
    # Both graphs: capturing needs neither the environment nor the descriptor.
    assert disturbed.report["summary"]["graphs"] == 2
    assert [file.stat().st_size for file in disturbed.folder.glob("data?")] == [0] * 5


def test_a_capture_that_cannot_start_says_so(cli: Cli) -> None:
    # Capturing starts when this is imported; whose it is does not matter here.
    (cli.folder / "torch" / "_dynamo").mkdir(parents=True)
    (cli.folder / "torch" / "__init__.py").touch()
    (cli.folder / "torch" / "_dynamo" / "__init__.py").write_text("print('imported')\n")
    (cli.folder / "script.py").write_text(
        "import sys\n"
        "class Refuse:\n"
        "    @staticmethod\n"
        "    def find_spec(name, path=None, target=None):\n"
        "        if name.startswith('fullgraph'): raise ImportError('refused')\n"
        "sys.meta_path.insert(0, Refuse)\n"
        "import torch._dynamo\n"
        "print('went on')\n"
    )
    result = cli("run", "--format", "json", "-o", "report.json", "script.py")
    assert (result.returncode, result.stdout) == (2, "imported\nwent on\n")
    (problem,) = json.loads((cli.folder / "report.json").read_text())["problems"]
    assert problem["fatal"]
    assert "refused" in problem["message"]


def test_the_session_of_a_running_program_is_not_removed(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    from fullgraph.capture import store

    monkeypatch.setenv("FULLGRAPH_HOME", str(cli.folder))
    (folder,) = store.sessions_folders()
    lasting = folder / f"0-{os.getpid()}"
    # No process has this number: it is beyond what the kernel gives out.
    finished = folder / "0-99999999"
    for old in (lasting, finished):
        old.mkdir(parents=True)
    for _ in range(25):
        newest = store.new_session()
        newest.rename(newest.with_name(f"{newest.name.rsplit('-', 1)[0]}-99999999"))
    assert lasting.exists()
    assert not finished.exists()
    assert len(list(folder.iterdir())) <= 22


def test_a_process_that_is_killed_at_the_start_does_not_affect_the_others(
    cli: Cli, finished: Finished
) -> None:
    folder = Path(shutil.copytree(finished.sessions, cli.folder / "copy"))
    (folder / "5-torn.jsonl").write_text('{"event":"hea')
    result = cli("report", str(folder))
    assert "1 root cause, 1 break site" in result.stdout
    assert "5-torn.jsonl has no header" in " ".join(result.stdout.split())


def test_a_parent_that_ignores_sigchld_does_not_block_the_run(cli: Cli) -> None:
    code = (
        "import os, signal, sys; signal.signal(signal.SIGCHLD, signal.SIG_IGN);"
        "os.execv(sys.argv[1], sys.argv[1:])"
    )
    (cli.folder / "script.py").write_text("import os\nprint('hello', flush=True)\nos._exit(3)\n")
    command = [sys.executable, "-c", code, *cli.command("run", str(cli.folder / "script.py"))]
    result = subprocess.run(
        command, capture_output=True, text=True, env=cli.environment, timeout=120
    )
    assert (result.returncode, result.stdout) == (3, "hello\n")
    assert "nothing was compiled" in result.stderr


def test_a_script_whose_name_looks_like_an_option(cli: Cli) -> None:
    (cli.folder / "-odd.py").write_text("import sys; print(sys.argv)")
    assert cli("run", "--", "-odd.py", "-x").stdout == "['-odd.py', '-x']\n"


def test_a_program_on_standard_input(cli: Cli) -> None:
    assert cli("run", "-", stdin="print('from stdin')").stdout == "from stdin\n"

"""Python processes that `fullgraph run` cannot capture are named in the report, and no others."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from fullgraph.model.events import Problem
from fullgraph.model.session import load_all
from tests.conftest import PROGRAMS, Cli

PROGRAM = str(PROGRAMS / "children.py")


def run_children(cli: Cli, *starts: str) -> dict[str, Any]:
    """Run the program with a session folder of its own and return the report."""
    script = cli.folder / "tool"
    script.write_text(f"#!{sys.executable}\nprint('child')\n")
    script.chmod(0o755)
    options = ["--session", "kept", "--format", "json", "-o", "report.json"]
    result = cli("run", *options, PROGRAM, str(script), *starts)
    assert (result.returncode, result.stderr) == (0, "")
    # The program and its children behave as without fullgraph.
    assert result.stdout == "child\n" * len(starts) + "missing\n"
    report: dict[str, Any] = json.loads((cli.folder / "report.json").read_text())
    return report


def test_each_python_process_that_is_not_captured_is_named(cli: Cli) -> None:
    # The options and the variables of each, and what the session must show of its command.
    expected = {
        "isolated": "-I",
        "without site": "-uS",
        "ignoring": "-W ignore -E",
        "no environment": "",
        "other path": "",
        "inherited files": "",
        "posix_spawn": "-I",
        "spawnv": "-I",
        "spawnve": "",
        "script": "tool",
    }
    report = run_children(cli, *expected)
    commands = [
        event.command
        for session in load_all((str(cli.folder / "kept"),))
        for event in session.events
        if isinstance(event, Problem)
    ]
    assert {os.path.realpath(command[0]) for command in commands} == {
        os.path.realpath(sys.executable)
    }
    options = [" ".join(command[1:]).split("-c ")[0].strip() for command in commands]
    shown = [os.path.basename(option) for option in options]
    assert sorted(shown) == sorted(expected.values())
    (problem,) = report["problems"]
    assert problem["message"].startswith("10 Python processes were started without")
    # A process that captures nothing is not counted.
    assert (report["environment"]["processes"], report["environment"]["killed"]) == (0, 0)


def test_one_process_is_one_clear_line(cli: Cli) -> None:
    report = run_children(cli, "isolated")
    (problem,) = report["problems"]
    assert not problem.get("fatal")
    assert problem["message"].startswith(
        "a Python process was started without fullgraph's environment: python"
    )
    assert " -I -c " in problem["message"]
    assert problem["message"].endswith("; whatever it compiled is not in this report")


def test_several_are_one_line(cli: Cli) -> None:
    run_children(cli, "isolated", "isolated", "without site")
    shown = " ".join(cli("report", "kept").stdout.split())
    assert "not captured 3 Python processes were started without fullgraph's environment:" in shown
    assert "(2 times)" in shown
    assert shown.endswith("; whatever they compiled is not in this report")


def test_captured_processes_and_other_programs_are_not_named(cli: Cli) -> None:
    starts = ("plain", "option of the program", "value of an option", "no Python")
    report = run_children(cli, *starts)
    assert report["problems"] == []


def test_inductor_and_its_workers_are_not_named(cli: Cli) -> None:
    # The imitation of inductor starts its worker as inductor does: with a PYTHONPATH of its own.
    folder = cli.folder / "torch" / "_inductor"
    folder.mkdir(parents=True)
    (folder / "pool.py").write_text(Path(PROGRAM).read_text())
    command = ["run", "--format", "json", "-o", "report.json", str(folder / "pool.py"), ""]
    assert cli(*command, "other path").stdout == "child\nmissing\n"
    assert json.loads((cli.folder / "report.json").read_text())["problems"] == []


def test_functions_that_start_programs_keep_their_names_and_errors(cli: Cli) -> None:
    (cli.folder / "script.py").write_text(
        "import os, subprocess\n"
        "print(os.execve.__name__, os.execve in os.supports_fd)\n"
        "for wrong in (lambda: os.execv('/nowhere', ['x']), lambda: os.posix_spawn(1, 2, 3),\n"
        "              lambda: subprocess.run([b'\\xff'], env={})):\n"
        "    try: wrong()\n"
        "    except Exception as error: print(type(error).__name__)\n"
    )
    plain = subprocess.run(
        [sys.executable, "script.py"], capture_output=True, text=True, cwd=cli.folder
    )
    result = cli("run", "script.py")
    assert result.stdout == plain.stdout
    assert "execve True" in result.stdout
    assert "not captured" not in result.stderr

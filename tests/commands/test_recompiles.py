"""`fullgraph recompiles` as a user meets it: groups, remedies, writing and bad input."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.conftest import Cli
from tests.recompiles.program import PROGRAM


def advice_of(cli: Cli, *arguments: str, code: int = 0) -> dict[str, Any]:
    done = cli("recompiles", "--format", "json", "-o", "report.json", *arguments)
    assert done.returncode == code, done.stderr
    report: dict[str, Any] = json.loads((cli.folder / "report.json").read_text())
    return report


def test_remedies_are_replayed_and_written(cli: Cli) -> None:
    file = cli.folder / "program.py"
    file.write_text(PROGRAM)
    report = advice_of(cli, "--time", "200", "--apply", "1", "--force", "program.py")
    groups = {each["group"]["name"]: each for each in report["groups"]}
    assert set(groups) >= {"self.step", "factor", "name"}

    first = {name: each["remedies"][0] for name, each in groups.items() if each["remedies"]}
    assert first["self.step"]["replay"]["compiles"]["after"] <= 2
    assert first["factor"]["replay"]["compiles"] == {"before": 4, "after": 1}
    # The strings have nothing in common, so only a higher limit helps.
    limit = first["name"]
    assert (limit["name"], limit["kind"]) == ("recompile_limit", "source")
    assert limit["replay"]["eager_calls"] == {"before": 2, "after": 0}
    assert all(each["replay"]["outputs_equal"] for each in first.values() if each["replay"])

    assert "recompile_limit=32" in file.read_text()
    assert cli("recompiles", "--undo").returncode == 0
    assert file.read_text() == PROGRAM


def test_an_earlier_session_gets_advice_that_is_not_replayed(warm_cli: Cli) -> None:
    (warm_cli.folder / "program.py").write_text(
        "import torch\n"
        "f = torch.compile(lambda x, n: x * n, backend='eager', dynamic=False)\n"
        "for n in (2, 3, 4): f(torch.ones(3), n)\n"
    )
    assert warm_cli("run", "--session", "kept", "program.py").returncode == 0
    done = warm_cli("recompiles", "kept")
    assert done.returncode == 0, done.stderr
    applied = warm_cli("recompiles", "--apply", "1", "--force", "kept")
    assert applied.returncode == 2
    assert applied.stderr.endswith("nothing was written; name the program instead of the session\n")
    text = " ".join(done.stdout.split())
    assert "remedies are not replayed: a session has no program to run again" in text
    assert "n changes, dynamic=False" in text
    assert "TORCH_COMPILE_DYNAMIC_SOURCES" in text


def test_a_program_without_recompiles_says_so_in_one_line(warm_cli: Cli) -> None:
    (warm_cli.folder / "program.py").write_text(
        "import torch\ntorch.compile(lambda x: x + 1, backend='eager')(torch.ones(3))\n"
    )
    done = warm_cli("recompiles", "program.py")
    assert done.returncode == 0, done.stderr
    assert done.stderr.split("\n") == ["fullgraph  no recompiles; 1 compile", ""]


@pytest.mark.parametrize(
    ("end", "why", "code"),
    [
        ("raise SystemExit(3)", "the program ended with exit code 3", 3),
        ("", "the program is not deterministic", 0),
    ],
)
def test_a_program_that_cannot_be_replayed_keeps_its_groups(
    warm_cli: Cli, end: str, why: str, code: int
) -> None:
    (warm_cli.folder / "program.py").write_text(
        "import os, torch\n"
        "f = torch.compile(lambda x, n: x * n, backend='eager', dynamic=False)\n"
        "for n in (2, 3, 4): f(torch.full((3,), float(os.urandom(2)[0])), n)\n"
        f"{end}\n"
    )
    report = advice_of(warm_cli, "program.py", code=code)
    assert why in report["not_replayed"]
    (advice,) = report["groups"]
    assert advice["group"]["values"] == ["2", "3", "4"]
    assert advice["remedies"]
    replayable = [each for each in advice["remedies"] if each["kind"] in ("source", "environment")]
    assert all(each["replay"] is None and why in each["not_replayed"] for each in replayable)


@pytest.mark.parametrize("wrong", ["x", "1.x", "1.2.3", "0", "1.0"])
def test_a_remedy_that_has_no_number_is_an_error(cli: Cli, wrong: str) -> None:
    done = cli("recompiles", "--apply", wrong, "program.py")
    assert done.returncode == 2
    assert "names no remedy" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_script_that_could_be_lost_is_an_error_before_anything_runs(cli: Cli) -> None:
    (cli.folder / "program.py").write_text("print('it ran')\n")
    done = cli("recompiles", "--apply", "1", "program.py")
    assert (done.returncode, done.stdout) == (2, "")
    assert "program.py is not in a git repository" in done.stderr


def test_a_missing_program_is_an_error(cli: Cli) -> None:
    done = cli("recompiles", "no_such_file.py")
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)


def test_nothing_of_the_program_changes(cli: Cli) -> None:
    """The program runs as under python, and the report is not mixed with its output."""
    (cli.folder / "program.py").write_text("import sys\nprint(sys.argv)\n")
    done = cli("recompiles", "program.py", "--all", "x")
    assert done.stdout == "['program.py', '--all', 'x']\n"

"""`fullgraph purity`: exit codes, text, JSON and errors of one line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import Cli

SOURCE = """
import torch

def pure(x):
    return x + 1

def impure(x):
    print(x)
    return x

def inputs():
    return (torch.ones(2),)
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "program.py"
    path.write_text(SOURCE)
    return path


def test_a_pure_function(file: Path, cli: Cli) -> None:
    result = cli("purity", f"{file}:pure")
    assert result.returncode == 0
    assert "is pure" in result.stdout
    assert "run twice with inputs()" in result.stdout


def test_an_impure_function_as_json(file: Path, warm_cli: Cli) -> None:
    result = warm_cli("purity", f"{file}:impure", "--format", "json", "--no-run")
    assert result.returncode == 1
    assert json.loads(result.stdout) == {
        "function": f"{file}:impure",
        "file": str(file),
        "pure": False,
        "findings": [
            {"kind": "effect", "line": 8, "what": "print() prints", "function": "", "by": "source"}
        ],
        "ran": "not run (--no-run)",
    }


def test_an_impure_function_as_text(file: Path, warm_cli: Cli) -> None:
    result = warm_cli("purity", f"{file}:impure")
    assert result.returncode == 1
    assert "is not pure" in result.stdout
    assert "line 8" in result.stdout
    assert "print() prints" in result.stdout
    assert "produces output" in result.stdout


def test_a_module_of_the_current_folder(file: Path, warm_cli: Cli) -> None:
    result = warm_cli("purity", "program:pure", "--inputs", "(torch.zeros(1),)")
    assert result.returncode == 0


@pytest.mark.parametrize(
    ("function", "word"),
    [
        ("program.py:nothing", "no function"),
        ("nowhere.py:f", "no file"),
        ("nowhere_at_all:f", "no module"),
        ("math:sin", "not written in Python"),
        ("program.py", "MODULE:NAME"),
        ("bad.py:f", "not valid Python"),
    ],
)
def test_bad_input_is_one_line(file: Path, warm_cli: Cli, function: str, word: str) -> None:
    (file.parent / "bad.py").write_text("def f(:\n")
    result = warm_cli("purity", function)
    assert result.returncode == 2
    assert word in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_inputs_that_raise(file: Path, warm_cli: Cli) -> None:
    result = warm_cli("purity", f"{file}:pure", "--inputs", "(nothing,)")
    assert result.returncode == 2
    assert "NameError" in result.stderr

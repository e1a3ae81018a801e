"""`fullgraph guards`: the guards of a program and of a session, and errors of one line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Cli

PROGRAM = """
import torch

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Linear(4, 4) for _ in range(3))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x

def helper(x, y):
    return x + y

torch.compile(Model(), backend="eager")(torch.ones(2, 4))
for size in (2, 3):
    torch.compile(helper, backend="eager")(torch.ones(size), torch.ones(size))
torch._dynamo.reset()
print("done")
raise SystemExit(3)
"""


def test_the_guards_of_a_program_are_shown_by_function(warm_cli: Cli) -> None:
    (warm_cli.folder / "program.py").write_text(PROGRAM)
    ran = warm_cli("guards", "--session", "kept", "program.py")
    assert (ran.stdout, ran.returncode) == ("done\n", 3)
    assert "2 compiled functions" in ran.stderr
    assert "Model.forward()  program.py:9" in ran.stderr
    assert "dtype, device, sizes and strides of parameters" in ran.stderr
    assert "self.layers[" in ran.stderr
    assert (
        "helper()  x: size(0) dynamic since compile 1/1 (2 → 3), because it changed" in ran.stderr
    )
    check_session(warm_cli)


def check_session(warm_cli: Cli) -> None:
    shown = warm_cli("guards", "--format", "json", "kept")
    functions: list[dict[str, Any]] = json.loads(shown.stdout)["functions"]
    # The most expensive guards come first, so the order depends on measured times.
    by_name = {each["qualified"]: each for each in functions}
    assert by_name.keys() == {"Model.forward", "helper"}
    (compiled,) = by_name["Model.forward"]["compiles"]
    assert compiled["guards"] == sum(len(group["guards"]) for group in compiled["groups"])
    one = warm_cli("guards", "--all", "kept:helper")
    assert "[1/0]" in one.stdout
    assert "Model.forward" not in one.stdout
    assert "check_tensor(L['y']" in one.stdout
    unknown = warm_cli("guards", "kept:missing")
    assert unknown.returncode == 2
    (line,) = unknown.stderr.splitlines()
    message, names = line.split("; there are: ")
    assert message == "fullgraph: no compiled function is named missing"
    assert set(names.split(", ")) == {"Model.forward", "helper"}


def test_a_program_that_compiles_nothing_gets_one_line(warm_cli: Cli) -> None:
    (warm_cli.folder / "program.py").write_text("import torch._dynamo\n")
    ran = warm_cli("guards", "program.py:main")
    assert ran.stderr.strip() == "fullgraph  nothing was compiled, so there are no guards"
    assert ran.returncode == 0


def test_a_session_without_guards_says_how_to_capture_them(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    header = {"event": "header", "format": 1, "fullgraph": "0"}
    (tmp_path / "kept" / "1.jsonl").write_text(json.dumps(header) + "\n")
    ran = cli("guards", "kept")
    assert ran.returncode == 2
    assert ran.stderr == (
        "fullgraph: kept has no guards; capture them with fullgraph guards --session FOLDER "
        "PROGRAM\n"
    )


@pytest.mark.parametrize("target", ["missing.py:forward", "missing.jsonl"])
def test_a_missing_program_or_session_is_an_error_of_one_line(cli: Cli, target: str) -> None:
    ran = cli("guards", target)
    assert ran.returncode == 2
    assert len(ran.stderr.splitlines()) == 1

"""`fullgraph where` as a user meets it: the table, the recommendation and bad input."""

from __future__ import annotations

import json
from typing import Any

from tests.conftest import Cli

PROGRAM = """
import torch

class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Linear(8, 8)
        self.register_buffer("seen", torch.zeros(()))

    def forward(self, x):
        self.seen += 1
        return torch.relu(self.inner(x))

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList([Block(), Block()])

    def forward(self, x):
        torch._dynamo.graph_break()
        for layer in self.layers:
            x = layer(x)
        if torch.compiler.is_compiling():
            x = x + 1
        return x

model = Model()
model.compile(backend="eager")
for _ in range(3):
    model(torch.ones(2, 8)).sum().backward()
print("the program's own output")
"""


def test_every_choice_is_measured_and_one_with_other_results_is_not_offered(cli: Cli) -> None:
    (cli.folder / "train.py").write_text(PROGRAM)
    done = cli("where", "--time", "300", "--format", "json", "train.py")
    assert done.returncode == 0, done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    (target,) = report["targets"]
    assert (target["name"], target["calls"], target["recorded"]) == ("model", 3, 2)
    assert target["backward"]
    assert target["compiled_at"][0]["text"] == 'model.compile(backend="eager")'
    rows = {each["choice"]["name"]: each for each in target["choices"]}
    assert rows["model"]["choice"]["today"]
    assert "outputs" in rows["model"]["problem"]
    blocks = rows["model.layers.*"]
    assert not blocks["problem"]
    assert rows["model"]["breaks"] == 1
    # The input of the second block requires a gradient, that of the first one does not.
    assert (blocks["graphs"], blocks["breaks"], blocks["recompiles"]) == (2, 0, 1)
    assert blocks["steady"]["seconds"] > 0
    assert blocks["choice"]["code"][0] == "for layer in model.layers:"


def test_a_program_without_torch_is_one_line(cli: Cli) -> None:
    (cli.folder / "program.py").write_text("print(1)")
    done = cli("where", "program.py")
    assert done.returncode == 2
    assert done.stderr.startswith("fullgraph: the program calls no torch.nn.Module and compiles no")
    assert done.stderr.count("\n") == 1

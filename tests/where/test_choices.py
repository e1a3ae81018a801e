"""What is recorded of a program, and which places to compile are listed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

from fullgraph.where.choices import list_choices, profile_modules
from fullgraph.where.recording import PlacementRecorder, Root
from fullgraph.where.report import Choice


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Linear(4, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.inner(x))


class Stage(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.blocks = nn.ModuleList([Block(), Block()])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for block in self.blocks:
            x = block(x)
        return x


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.stages = nn.ModuleList([Stage(), Stage()])
        self.tail = nn.Sequential(nn.Linear(4, 4), nn.ReLU())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for stage in self.stages:
            x = stage(x)
        result: torch.Tensor = self.tail(x)
        return result


def recorded(program: Callable[[], Any]) -> list[Root]:
    recorder = PlacementRecorder()
    uninstall = recorder.install()
    try:
        program()
    finally:
        uninstall()
    return recorder.chosen_roots()


def choices_of(root: Root, monkeypatch: pytest.MonkeyPatch) -> dict[str, Choice]:
    # Tiny modules take too small a part of the time.
    monkeypatch.setattr("fullgraph.where.choices._SMALLEST_SHARE", 0.0)
    call = root.calls[0]
    profile = profile_modules(root, lambda: root.target.original(*call.args, **call.kwargs))
    choices, _ = list_choices(root, profile)
    return {choice.name: choice for choice in choices}


def test_the_whole_repeated_blocks_and_submodules_are_listed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model = Model()

    def program() -> None:
        compiled = torch.compile(model, backend="eager")
        compiled(torch.ones(2, 4))

    (root,) = recorded(program)
    assert (root.name, root.called, len(root.calls)) == ("model", 1, 1)
    choices = choices_of(root, monkeypatch)
    assert set(choices) == {"model", "model.stages.*", "model.stages.*.blocks.*", "model.tail"}
    assert choices["model"].today
    blocks = choices["model.stages.*.blocks.*"]
    assert (blocks.kind, blocks.class_name, blocks.count) == ("blocks", "Block", 4)
    assert blocks.code == (
        "for stage in model.stages:",
        "    for block in stage.blocks:",
        "        block.compile(backend='eager')",
    )
    # Dynamo skips the code of torch's own modules, so that `Module.compile` would do nothing.
    (tail,) = choices["model.tail"].code
    assert tail == "model.tail.forward = torch.compile(model.tail.forward, backend='eager')"


def test_a_program_that_compiles_blocks_is_recorded_with_its_whole_model(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model = Model()

    def program() -> None:
        for stage in model.stages:
            stage.compile(backend="eager")
        model(torch.ones(2, 4))

    (root,) = recorded(program)
    assert root.target.original is model
    assert len({part.line for part in root.parts}) == 1
    choices = choices_of(root, monkeypatch)
    assert [name for name, each in choices.items() if each.today] == ["model.stages.*"]
    # Afterwards the model is as it was.
    assert model.stages[0]._compiled_call_impl is None


def test_a_function_has_the_modules_that_it_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    model = Model()

    def program() -> None:
        @torch.compile(backend="eager")
        def step(x: torch.Tensor) -> torch.Tensor:
            return model(x).sum()

        step(torch.ones(2, 4)).backward()

    (root,) = recorded(program)
    assert root.is_function
    choices = choices_of(root, monkeypatch)
    assert next(iter(choices)).endswith("step")
    assert "model" in choices
    assert choices["model"].code == ("model.compile(backend='eager')",)


def test_layers_that_a_function_calls_in_a_loop_are_one_choice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    layers = [Block(), Block(), Block()]

    def program() -> None:
        def run(x: torch.Tensor) -> torch.Tensor:
            for layer in layers:
                x = layer(x)
            return x

        torch.compile(run, backend="eager")(torch.ones(2, 4))

    (root,) = recorded(program)
    choices = choices_of(root, monkeypatch)
    assert set(choices) == {"run", "layer"}
    assert choices["layer"].count == 3
    assert choices["layer"].code == ("layer.compile(backend='eager')  # each of the 3",)


def test_a_model_that_a_library_calls_has_the_name_of_the_program() -> None:
    class Wrapper(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = Block()

        def forward(self, x: torch.Tensor) -> Any:
            return self.inner(x)

        def generate(self, x: torch.Tensor) -> Any:
            return self(x)

    def program() -> None:
        network = Wrapper()
        network.generate(torch.ones(2, 4))

    (root,) = recorded(program)
    assert root.name == "network"


def test_without_torch_compile_the_outermost_modules_are_recorded() -> None:
    model, loss = Model(), nn.MSELoss()

    def program() -> None:
        for size in (2, 2, 2, 3):
            loss(model(torch.ones(size, 4)), torch.ones(size, 4))

    (root,) = recorded(program)
    # A loss has no parameters, and two calls with the same shapes are enough.
    assert (root.name, root.called, len(root.calls)) == ("model", 4, 3)
    assert not root.parts

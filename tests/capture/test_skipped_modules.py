"""Torch's own modules: Dynamo skips them after `Module.compile`, and the report says so."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import fullgraph
from fullgraph.model.report import Report

X = torch.ones(3, 3)


class Layer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(3, 3)

    def forward(self, x: Tensor) -> Tensor:
        return self.linear(x).relu()


@pytest.fixture(autouse=True)
def _fresh_dynamo() -> None:
    torch._dynamo.reset()


def compile_in_place(module: nn.Module) -> nn.Module:
    module.compile(backend="eager")
    return module


def line_of(text: str) -> int:
    """Return the first line of this file that contains `text`."""
    lines = Path(__file__).read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


def skipped(report: Report) -> list[tuple[str, int]]:
    return [(frame.qualified, frame.occurrences) for frame in report.skipped_frames]


def test_a_module_is_reported_with_the_line_that_compiled_it() -> None:
    with fullgraph.watch() as session:
        module = nn.Linear(3, 3)
        module.compile(backend="eager")  # has no effect
        module(X)
        module(X)
    (frame,) = session.report().skipped_frames
    assert (frame.qualified, frame.owner, frame.occurrences) == ("Linear.forward", "torch", 1)
    assert frame.via is not None
    assert (frame.via.file, frame.via.line) == (__file__, line_of("# has no effect"))
    text = " ".join(str(session).split())
    assert "nothing was compiled: Dynamo skipped every frame" in text
    assert f"test_skipped_modules.py:{frame.via.line}" in text
    assert "use torch.compile(module)" in text
    assert "_call_impl" not in text


def test_it_is_reported_also_when_other_functions_were_compiled() -> None:
    with fullgraph.watch() as session:
        compile_in_place(Layer())(X)
        for _ in range(2):
            compile_in_place(nn.Linear(3, 3))(X)
    report = session.report()
    assert skipped(report) == [("Linear.forward", 2)]
    assert report.summary.graphs == 1


def test_a_container_is_reported_although_its_layers_are_compiled_one_by_one() -> None:
    with fullgraph.watch() as session:
        compile_in_place(nn.Sequential(Layer(), nn.ReLU(), Layer()))(X)
    report = session.report()
    assert skipped(report) == [("Sequential.forward", 1)]
    assert {graph.function for graph in report.graphs} == {"forward"}


def test_a_subclass_without_a_forward_of_its_own() -> None:
    class Named(nn.Linear):
        pass

    with fullgraph.watch() as session:
        compile_in_place(Named(3, 3))(X)
    assert skipped(session.report()) == [("Linear.forward", 1)]


def test_a_module_that_was_compiled_before_the_capture() -> None:
    module = compile_in_place(nn.Linear(3, 3))
    for _ in range(2):
        torch._dynamo.reset()
        with fullgraph.watch() as session:
            module(X)
        assert skipped(session.report()) == [("Linear.forward", 1)]


def test_a_second_capture_reports_a_module_again() -> None:
    with fullgraph.watch():
        module = compile_in_place(nn.Linear(3, 3))
        module(X)
    for prepare in (lambda: None, torch._dynamo.reset):
        prepare()
        with fullgraph.watch() as session:
            module(X)
        assert skipped(session.report()) == [("Linear.forward", 1)]


@pytest.mark.parametrize(
    "call",
    [
        lambda: torch.compile(nn.Linear(3, 3), backend="eager")(X),
        lambda: torch.compile(nn.Sequential(nn.Linear(3, 3)), backend="eager")(X),
        lambda: torch.compile(nn.functional.relu, backend="eager")(X),
        lambda: torch.compile(torch.sin, backend="eager")(X),
        lambda: torch.compile(nn.Linear(3, 3).forward, backend="eager")(X),
        lambda: torch.compile(nn.Linear(3, 3), backend=lambda module, _: module)(X),
        lambda: compile_in_place(Layer())(X),
        lambda: torch.compile(Layer(), backend="eager")(X),
    ],
)
def test_what_dynamo_traces_is_not_reported(call: Callable[[], Any]) -> None:
    with fullgraph.watch() as session:
        call()
    report = session.report()
    assert report.summary.graphs == 1
    assert [frame for frame in report.skipped_frames if frame.owner == "torch"] == []


def test_a_module_that_only_compiled_code_calls_is_not_reported() -> None:
    class Outer(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = compile_in_place(nn.Tanh())

        def forward(self, x: Tensor) -> Tensor:
            return self.inner(x)

    with fullgraph.watch() as session:
        compile_in_place(nn.Linear(3, 3))
        torch.compile(Outer(), backend="eager")(X)
    report = session.report()
    assert report.skipped_frames == ()
    assert report.summary.ops == 1

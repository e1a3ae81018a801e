"""Which inputs of a frame a guard may use."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch._dynamo.source import LocalSource, SkipGuardSource, Source
from torch._dynamo.variables.builder import GraphArg
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx import Graph, Node

from fullgraph.value_guards.concrete_eval import ValueUnknown
from fullgraph.value_guards.frame_inputs import frame_input, graph_arg_of
from tests.value_guards.run_and_compare import ints

SMALL = ints(1, 2)
# Dynamo requires a fake tensor beside each tensor; value guards do not use it.
FAKE = FakeTensorMode().from_tensor(SMALL)


def placeholder(example: Any, source: Source | None, *, pass_as_tensor: bool = False) -> Node:
    node = Graph().placeholder("t")
    node.meta["grapharg"] = GraphArg(source, example, pass_as_tensor, FAKE)
    return node


def frame(value: Any) -> Any:
    """What a frame that is called with `t=value` knows of its variables."""
    return SimpleNamespace(output=SimpleNamespace(global_scope={}, local_scope={"t": value}))


def test_an_integer_tensor() -> None:
    found = frame_input(frame(SMALL), placeholder(SMALL, LocalSource("t")), 2)
    assert found.expression == "L['t']"
    assert found.value is SMALL


def test_a_boolean_tensor() -> None:
    mask = SMALL > 1
    assert frame_input(frame(mask), placeholder(mask, LocalSource("t")), 2).value is mask


@pytest.mark.parametrize(
    ("example", "reason"),
    [
        (SMALL.float(), "not an integer tensor"),
        (torch.ones(1, dtype=torch.complex64), "not an integer tensor"),
        (torch.nn.Parameter(SMALL, requires_grad=False), "not a plain tensor"),
        (ints(1, 2, 3), "more than 2 elements"),
        (SMALL.to("meta"), "not a dense CPU tensor"),
        (torch.eye(2, dtype=torch.int64).to_sparse(), "not a dense CPU tensor"),
        (None, "not a plain tensor"),
    ],
)
def test_an_input_that_a_guard_cannot_use(example: Any, reason: str) -> None:
    with pytest.raises(ValueUnknown, match=reason):
        frame_input(frame(example), placeholder(example, LocalSource("t")), 2)


def test_an_input_of_vmap() -> None:
    reasons: list[str] = []

    def read(t: torch.Tensor) -> torch.Tensor:
        with pytest.raises(ValueUnknown) as error:
            frame_input(frame(t), placeholder(t, LocalSource("t")), 2)
        reasons.append(str(error.value))
        return t

    torch.vmap(read)(SMALL[None])
    assert reasons == ["the input belongs to a function transform such as vmap"]


def test_an_input_that_dynamo_does_not_guard() -> None:
    for node in (
        placeholder(SMALL, SkipGuardSource(LocalSource("t"))),
        placeholder(SMALL, LocalSource("t"), pass_as_tensor=True),
    ):
        with pytest.raises(ValueUnknown, match="does not guard"):
            frame_input(frame(SMALL), node, 2)


def test_an_input_without_a_name() -> None:
    for node in (placeholder(SMALL, None), Graph().placeholder("t")):
        assert graph_arg_of(node) is None
        with pytest.raises(ValueUnknown, match="has no name"):
            frame_input(frame(SMALL), node, 2)


def test_an_expression_that_does_not_lead_to_the_input() -> None:
    for variables in (frame(SMALL.clone()), SimpleNamespace(output=frame(0).output)):
        with pytest.raises(ValueUnknown, match="created again"):
            frame_input(variables, placeholder(SMALL, LocalSource("t")), 2)
    with pytest.raises(ValueUnknown, match="created again"):
        frame_input(frame(SMALL), placeholder(SMALL, LocalSource("missing")), 2)


def symbolic_integer(*, value: int | None) -> torch.SymInt:
    from torch.fx.experimental.symbolic_shapes import ShapeEnv

    environment = ShapeEnv()
    if value is None:
        return environment.create_unbacked_symint()
    symbol = environment.create_symbol(value, LocalSource("t"))
    return environment.create_symintnode(symbol, hint=value)


def test_a_symbolic_integer() -> None:
    node = placeholder(symbolic_integer(value=5), LocalSource("t"))
    assert frame_input(frame(5), node, 2).value == 5
    with pytest.raises(ValueUnknown, match="created again"):
        frame_input(frame(6), node, 2)
    with pytest.raises(ValueUnknown, match="created again"):
        frame_input(frame(5.0), node, 2)


def test_an_unbacked_symbol() -> None:
    node = placeholder(symbolic_integer(value=None), LocalSource("t"))
    with pytest.raises(ValueUnknown, match="unbacked symbol"):
        frame_input(frame(5), node, 2)

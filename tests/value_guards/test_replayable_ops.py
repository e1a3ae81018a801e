"""Which operations a guard may run again, by the kind of node in the graph."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch._dynamo.utils import numpy_operator_wrapper, numpy_to_tensor_wrapper
from torch.fx import Graph, Node

from fullgraph.value_guards.replayable_ops import (
    has_visible_mutations,
    is_replayable,
    is_replayable_mutation,
    operation_name,
)


def node_for(target: Any, *args: Any, **kwargs: Any) -> Node:
    """A node that calls a tensor method, if `target` is a string, or a function."""
    graph = Graph()
    tensor = graph.placeholder("t")
    if isinstance(target, str):
        return graph.call_method(target, (tensor, *args), kwargs)
    return graph.call_function(target, (tensor, *args), kwargs)


def unknown_function(t: Any) -> Any:
    return t


REPLAYABLE = [
    node_for("sum"),
    node_for("__add__", 1),
    node_for(torch.add, 1),
    node_for(torch.nn.functional.pad, (1, 1)),
    node_for(torch.special.expit),
    node_for(torch.linalg.det),
    node_for(torch.Tensor.add, 1),
    node_for(operator.add, 1),
    node_for(operator.getitem, 0),
    node_for(getattr, "T"),
    node_for(torch.ops.aten.add.Tensor, 1),
    node_for(torch.add, 1, out=None),
    node_for(torch.nn.functional.relu, inplace=False),
    node_for(numpy_operator_wrapper(operator.add), 1),
    node_for(numpy_to_tensor_wrapper(torch._numpy.sum)),
]
NOT_REPLAYABLE = [
    node_for("item"),
    node_for("data_ptr"),
    node_for("add_", 1),
    node_for("no_such_method"),
    node_for("new_empty", 2),
    node_for(torch.empty),
    node_for(torch.add, 1, out=3),
    node_for(torch.nn.functional.relu, inplace=True),
    node_for(torch.bernoulli, generator=3),
    node_for(operator.iadd, 1),
    node_for(operator.setitem, 0, 1),
    node_for(getattr, "grad"),
    node_for(getattr, "T", None),
    node_for(torch.ops.aten.add_.Tensor, 1),
    node_for(torch.ops.aten.empty_like.default),
    node_for(unknown_function),
    node_for(numpy_operator_wrapper(operator.iadd), 1),
    node_for(numpy_to_tensor_wrapper(unknown_function)),
    node_for(numpy_to_tensor_wrapper(torch._numpy.random.rand)),
    Graph().placeholder("t"),
]


def _id(node: Node) -> str:
    return f"{operation_name(node)}-{len(node.args)}-{'-'.join(node.kwargs)}"


@pytest.mark.parametrize("node", REPLAYABLE, ids=_id)
def test_a_deterministic_operation_without_side_effects_is_replayable(node: Node) -> None:
    assert is_replayable(node)
    assert has_visible_mutations(node)
    assert not is_replayable_mutation(node)


@pytest.mark.parametrize("node", NOT_REPLAYABLE, ids=_id)
def test_other_operations_are_not_replayable(node: Node) -> None:
    assert not is_replayable(node)


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        (node_for("add_", 1), True),
        (node_for("copy_", 1), True),
        (node_for("zero_"), True),
        (node_for("fill_diagonal_", 1), True),
        (node_for(torch.relu_), True),
        (node_for(operator.iadd, 1), True),
        (node_for(operator.setitem, 0, 1), True),
        (node_for("__iadd__", 1), False),
        (node_for("resize_", 1), False),
        (node_for("t_"), False),
        (node_for("detach_"), False),
        (node_for("geometric_", 0.5), False),
        (node_for("bernoulli_", generator=3), False),
        (node_for("add_", 1, out=3), False),
        (node_for(torch.ops.aten.add_.Tensor, 1), False),
        (node_for(unknown_function), False),
    ],
    ids=lambda value: _id(value) if isinstance(value, Node) else "",
)
def test_a_mutation_of_values_is_replayable(node: Node, expected: bool) -> None:
    assert is_replayable_mutation(node) is expected


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        (torch.ops.aten.add.Tensor, True),
        (torch.ops.aten.add_.Tensor, True),
        (torch.ops.aten._assert_async.default, True),
        (torch._check, True),
        (unknown_function, False),
        ("no_such_method", False),
    ],
)
def test_mutations_of_torch_operations_are_visible(
    target: str | Callable[..., Any], expected: bool
) -> None:
    assert has_visible_mutations(node_for(target)) is expected


def test_the_name_of_an_operation() -> None:
    assert operation_name(node_for("sum")) == "sum"
    assert operation_name(node_for(torch.add)) == "add"
    assert operation_name(node_for(torch.ops.aten.add.Tensor)) == "add"

"""Decides which inputs of a traced frame a guard may use, and how the guard finds them again.

An input of the graph is a `placeholder` node. Dynamo stores in the node's metadata, as "grapharg",
the real value (`example`) and its source. The name of a source is a Python expression such as
`L['self']._buffers['size']`, which Dynamo's own guards evaluate at each call.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch._dynamo import guards
from torch._dynamo.source import is_from_skip_guard_source
from torch._dynamo.variables.builder import GraphArg
from torch.fx import Node

from fullgraph.value_guards.concrete_eval import ValueUnknown


class FrameInput(NamedTuple):
    """An input: its value in the traced call, and the expression that finds it at each call."""

    expression: str
    value: Any


def graph_arg_of(node: Node) -> Any:
    """Return Dynamo's description of an input, or None if Dynamo has no name for the input."""
    graph_arg = node.meta.get("grapharg")
    if not isinstance(graph_arg, GraphArg) or graph_arg.source is None:
        return None
    return graph_arg


def frame_input(tx: Any, node: Node, max_elements: int) -> FrameInput:
    """Return the input that a placeholder represents, or raise ValueUnknown with the reason."""
    graph_arg = graph_arg_of(node)
    if graph_arg is None:
        raise ValueUnknown("Dynamo has no name for the input")
    if graph_arg.pass_arg_as_tensor or is_from_skip_guard_source(graph_arg.source):
        raise ValueUnknown("Dynamo does not guard the input")
    value = _usable_value(graph_arg.example, max_elements)
    expression: str = graph_arg.source.name
    if not _leads_to(tx, expression, value):
        raise ValueUnknown("the input is created again at each access")
    return FrameInput(expression, value)


def _usable_value(example: Any, max_elements: int) -> Any:
    """Return an integer or a small integer tensor; raise ValueUnknown for everything else."""
    if isinstance(example, torch.SymInt):
        if not example.node.has_hint():
            raise ValueUnknown("the number is an unbacked symbol")
        return int(example.node.hint)
    if type(example) is not torch.Tensor or torch._is_functional_tensor(example):
        raise ValueUnknown("the input is not a plain tensor")
    if torch._C._functorch.is_functorch_wrapped_tensor(example):
        raise ValueUnknown("the input belongs to a function transform such as vmap")
    if example.is_floating_point() or example.is_complex() or example.requires_grad:
        raise ValueUnknown("the input is not an integer tensor")
    if example.device.type != "cpu" or example.layout != torch.strided or example.is_neg():
        raise ValueUnknown("the input is not a dense CPU tensor")
    if example.numel() > max_elements:
        raise ValueUnknown(f"the input has more than {max_elements} elements")
    return example


def _leads_to(tx: Any, expression: str, value: Any) -> bool:
    """Return whether the expression finds this very input, as a guard will evaluate it.

    It does not if the expression calls a property that creates a new tensor each time.
    """
    names = {
        **guards._get_closure_vars(),
        "G": tx.output.global_scope,
        "L": tx.output.local_scope,
    }
    try:
        found = eval(expression, names)
    except Exception:
        return False
    if isinstance(value, torch.Tensor):
        return found is value
    return type(found) is int and found == value

"""Operators whose output has a size that depends on data, as ones with a given size.

The graph that a backend gets then says the size itself, and a backend that knows nothing of value
guards can compile it. The guard is on the size alone: other values of the same size fit.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import torch
from torch.fx import Node

from fullgraph.value_guards.concrete_eval import Refused, leaves
from fullgraph.value_guards.frame_values import Trace

# Changes a node into its other form, or raises Refused, or leaves it alone and returns False.
Form = Callable[[Any, Trace, Node], bool]


def _replace(node: Node, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    node.op = "call_function"
    node.target = target
    node.args = args
    node.kwargs = kwargs
    return True


def _insert(tx: Any, node: Node, target: Any, *args: Any, **kwargs: Any) -> Node:
    """A new operation in front of a node, with its fake value."""
    graph = tx.output.graph
    with graph.inserting_before(node):
        made: Node = graph.call_function(target, args, kwargs)
    made.meta.update((key, value) for key, value in node.meta.items() if key != "example_value")
    given = torch.fx.node.map_arg((args, kwargs), lambda argument: argument.meta["example_value"])
    with tx.fake_mode:
        made.meta["example_value"] = target(*given[0], **given[1])
    return made


def _is_mask(value: Any) -> bool:
    if not isinstance(value, Node):
        return False
    fake = value.meta.get("example_value")
    return isinstance(fake, torch.Tensor) and fake.dtype == torch.bool and fake.dim() > 0


def _count(tx: Any, trace: Trace, mask: Node) -> int:
    return int(trace.read(tx, mask, "shape", torch.count_nonzero))


def _fake(node: Any) -> torch.Tensor:
    fake = node.meta.get("example_value") if isinstance(node, Node) else None
    if not isinstance(fake, torch.Tensor):
        raise Refused("not a tensor")
    return fake


def _nonzero(tx: Any, trace: Trace, node: Node) -> bool:
    values = dict(node.kwargs)
    values.update(zip(("input", "as_tuple"), node.args, strict=False))
    tensor = values.pop("input", values.pop("self", None))
    as_tuple = values.pop("as_tuple", False)
    if values or not isinstance(as_tuple, bool) or _fake(tensor).dim() == 0:
        raise Refused("an unusual nonzero")
    size = _count(tx, trace, tensor)
    if not as_tuple:
        return _replace(node, torch.nonzero_static, (tensor,), {"size": size})
    places = _insert(tx, node, torch.nonzero_static, tensor, size=size)
    return _replace(node, torch.unbind, (places, 1), {})


def _where(tx: Any, trace: Trace, node: Node) -> bool:
    if len(node.args) != 1 or node.kwargs:
        return False
    node.args = (*node.args, True)
    return _nonzero(tx, trace, node)


def _index(tx: Any, trace: Trace, node: Node) -> bool:
    """A mask in brackets stands for the places at which it is true."""
    tensor, index = node.args
    parts = index if isinstance(index, tuple) else (index,)
    if not any(_is_mask(part) for part in parts) or not isinstance(tensor, Node):
        return False
    if not isinstance(tensor.meta.get("example_value"), torch.Tensor):
        return False
    known: list[Any] = []
    for part in parts:
        known += _places(tx, trace, node, part) if _is_mask(part) else [part]
    return _replace(node, node.target, (tensor, tuple(known)), {})


def _places(tx: Any, trace: Trace, node: Node, mask: Node) -> list[Node]:
    size = _count(tx, trace, mask)
    places = _insert(tx, node, torch.nonzero_static, mask, size=size)
    return [_insert(tx, node, torch.select, places, 1, axis) for axis in range(_fake(mask).dim())]


def _masked_select(tx: Any, trace: Trace, node: Node) -> bool:
    if len(node.args) != 2 or node.kwargs:
        raise Refused("an unusual masked_select")
    tensor, mask = node.args
    shape, mask_shape = _fake(tensor).shape, _fake(mask).shape
    if tuple(shape) != tuple(mask_shape) or not _is_mask(mask):
        raise Refused("a mask of another shape")
    assert isinstance(mask, Node)
    return _replace(node, operator.getitem, (tensor, tuple(_places(tx, trace, node, mask))), {})


def _repeat_interleave(tx: Any, trace: Trace, node: Node) -> bool:
    """`(repeats)`, or `(input, repeats, dim)` where `repeats` may be a number."""
    if node.kwargs.get("output_size") is not None:
        return False
    repeats: Any = node.kwargs.get("repeats", node.args[1] if len(node.args) > 1 else None)
    if repeats is None and len(node.args) == 1:
        repeats = node.args[0]
    fake = repeats.meta.get("example_value") if isinstance(repeats, Node) else None
    if not isinstance(fake, torch.Tensor):
        return False
    if fake.numel() == 1 and repeats is not node.args[0]:
        raise Refused("one number of repeats for all")
    size = int(trace.read(tx, repeats, "shape", torch.sum))
    node.kwargs = {**node.kwargs, "output_size": size}
    return True


_FORMS: dict[str, Form] = {
    "nonzero": _nonzero,
    "argwhere": _nonzero,
    "where": _where,
    "getitem": _index,
    "masked_select": _masked_select,
    "repeat_interleave": _repeat_interleave,
}


def has_form(node: Node) -> bool:
    return _name(node) in _FORMS


def give_size(tx: Any, trace: Trace, node: Node) -> bool:
    """Changes the node if its size depends on data and that is known."""
    return _FORMS[_name(node)](tx, trace, node)


def _name(node: Node) -> str:
    if isinstance(node.target, str):
        return node.target
    return str(getattr(node.target, "__name__", ""))


def give_numbers(tx: Any, trace: Trace, node: Node) -> bool:
    """Puts numbers where an operation was given known tensors of one number each."""
    numbers: dict[Node, int] = {}
    for argument in node.all_input_nodes:
        fake = argument.meta.get("example_value")
        if isinstance(fake, torch.Tensor) and fake.dim() == 0 and not fake.is_floating_point():
            with suppress(Refused):
                numbers[argument] = trace.read(tx, argument).item()
    if not numbers:
        return False
    node.args, node.kwargs = torch.fx.node.map_arg(
        (node.args, node.kwargs), lambda argument: numbers.get(argument, argument)
    )
    return True


def give_result(tx: Any, trace: Trace, node: Node, largest: int) -> bool:
    """Puts the result itself in the place of an operation all of whose arguments are known."""
    result = trace.value(tx, node)
    if trace.is_view(node) or isinstance(result, (list, dict)):
        raise Refused("the result is a view")
    if any(tensor.numel() > largest or not tensor.is_contiguous() for tensor in leaves(result)):
        raise Refused("too large to be written into a graph")
    if isinstance(result, bool):
        trace.read(tx, node)
        return _replace(node, operator.eq, (result, True), {})
    if isinstance(result, torch.Tensor):
        trace.read(tx, node)
        flat = _insert(tx, node, torch.tensor, result.flatten().tolist(), dtype=result.dtype)
        return _replace(node, torch.reshape, (flat, tuple(result.shape)), {})
    raise Refused("neither a tensor nor a truth value")

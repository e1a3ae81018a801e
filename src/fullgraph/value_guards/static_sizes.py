"""Rewrites nodes with a data-dependent output size into nodes with a given size.

The size is then static in the resulting graph, so any backend can compile it. Where possible, the
guard is on the size alone: other values that give the same size pass the guard.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import torch
from torch.fx import Node

from fullgraph.value_guards.concrete_eval import ValueUnknown, tensors_in
from fullgraph.value_guards.frame_values import FrameValues

# Changes a node and returns True; returns False if the node needs no change or has none; raises
# ValueUnknown if the needed values are not known.
StaticSize = Callable[[Any, FrameValues, Node], bool]


def has_static_size_form(node: Node) -> bool:
    """Return whether the operator has a variant that is given its output size."""
    return _target_name(node) in _STATIC_SIZES


def make_size_static(tx: Any, values: FrameValues, node: Node) -> bool:
    """Change an operator into the variant with a given size; return False if it has a static size.

    Raises ValueUnknown if the size is not known.
    """
    return _STATIC_SIZES[_target_name(node)](tx, values, node)


def replace_scalar_arguments(tx: Any, values: FrameValues, node: Node) -> bool:
    """Replace arguments that are known 0-d integer tensors by numbers: `zeros(t[0])`, `zeros(3)`.

    Return False if there is no such argument.
    """
    numbers: dict[Node, int] = {}
    for argument in node.all_input_nodes:
        fake = argument.meta.get("example_value")
        if isinstance(fake, torch.Tensor) and fake.dim() == 0 and not fake.is_floating_point():
            with suppress(ValueUnknown):
                numbers[argument] = values.read(tx, argument).item()
    if not numbers:
        return False
    node.args, node.kwargs = torch.fx.node.map_arg(
        (node.args, node.kwargs), lambda argument: numbers.get(argument, argument)
    )
    return True


def replace_by_result(tx: Any, values: FrameValues, node: Node) -> bool:
    """Replace an operation by its result, a constant: `unique`, `bincount`, `equal`.

    Raises ValueUnknown if an argument is not known or the result does not fit into a graph.
    """
    result = values.value(tx, node)
    if values.is_view(node) or isinstance(result, (list, dict)):
        raise ValueUnknown("the result is a view or a container")
    max_elements = values.scope.max_elements
    if any(each.numel() > max_elements or not each.is_contiguous() for each in tensors_in(result)):
        raise ValueUnknown("the result is too large for a constant in the graph")
    if isinstance(result, bool):
        values.read(tx, node)
        return _rewrite(node, operator.eq, (result, True), {})
    if isinstance(result, torch.Tensor):
        values.read(tx, node)
        flat = _insert_before(node, tx, torch.tensor, result.flatten().tolist(), dtype=result.dtype)
        return _rewrite(node, torch.reshape, (flat, tuple(result.shape)), {})
    raise ValueUnknown("the result is neither a tensor nor a boolean")


# Each of these functions changes one operator; `_STATIC_SIZES` lists them by the operator's name.


def _nonzero(tx: Any, values: FrameValues, node: Node) -> bool:
    """`nonzero(input, as_tuple=False)` and `argwhere(input)`."""
    arguments = dict(node.kwargs)
    arguments.update(zip(("input", "as_tuple"), node.args, strict=False))
    tensor = arguments.pop("input", arguments.pop("self", None))
    as_tuple = arguments.pop("as_tuple", False)
    if arguments or not isinstance(as_tuple, bool) or _fake_tensor(tensor).dim() == 0:
        raise ValueUnknown("nonzero is called with unsupported arguments")
    assert isinstance(tensor, Node)
    size = _guarded_count(tx, values, tensor)
    if not as_tuple:
        return _rewrite(node, torch.nonzero_static, (tensor,), {"size": size})
    positions = _insert_before(node, tx, torch.nonzero_static, tensor, size=size)
    return _rewrite(node, torch.unbind, (positions, 1), {})


def _where(tx: Any, values: FrameValues, node: Node) -> bool:
    """`where(condition)`, which is `nonzero(condition, as_tuple=True)`."""
    if len(node.args) != 1 or node.kwargs:
        return False
    node.args = (*node.args, True)
    return _nonzero(tx, values, node)


def _index(tx: Any, values: FrameValues, node: Node) -> bool:
    """`tensor[mask]`: replace each mask by the positions at which it is True."""
    tensor, index = node.args
    parts = index if isinstance(index, tuple) else (index,)
    if not any(_is_mask(part) for part in parts) or not isinstance(tensor, Node):
        return False
    if not isinstance(tensor.meta.get("example_value"), torch.Tensor):
        return False
    new_parts: list[Any] = []
    for part in parts:
        new_parts += _true_positions(tx, values, node, part) if _is_mask(part) else [part]
    return _rewrite(node, node.target, (tensor, tuple(new_parts)), {})


def _masked_select(tx: Any, values: FrameValues, node: Node) -> bool:
    """`masked_select(tensor, mask)` with a mask of the same shape."""
    if len(node.args) != 2 or node.kwargs:
        raise ValueUnknown("masked_select is called with unsupported arguments")
    tensor, mask = node.args
    if tuple(_fake_tensor(tensor).shape) != tuple(_fake_tensor(mask).shape) or not _is_mask(mask):
        raise ValueUnknown("the mask has another shape than the tensor")
    assert isinstance(mask, Node)
    positions = tuple(_true_positions(tx, values, node, mask))
    return _rewrite(node, operator.getitem, (tensor, positions), {})


def _repeat_interleave(tx: Any, values: FrameValues, node: Node) -> bool:
    """`repeat_interleave(repeats)`, or `(input, repeats, dim)` where `repeats` may be a number."""
    if node.kwargs.get("output_size") is not None:
        return False
    repeats: Any = node.kwargs.get("repeats", node.args[1] if len(node.args) > 1 else None)
    if repeats is None and len(node.args) == 1:
        repeats = node.args[0]
    fake = repeats.meta.get("example_value") if isinstance(repeats, Node) else None
    if not isinstance(fake, torch.Tensor):
        return False
    if fake.numel() == 1 and repeats is not node.args[0]:
        # The output size is then a multiple of the input's size, not the sum of `repeats`.
        raise ValueUnknown("repeats is one number for all elements")
    size = int(values.read(tx, repeats, "shape", torch.sum))
    node.kwargs = {**node.kwargs, "output_size": size}
    return True


_STATIC_SIZES: dict[str, StaticSize] = {
    "nonzero": _nonzero,
    "argwhere": _nonzero,
    "where": _where,
    "getitem": _index,
    "masked_select": _masked_select,
    "repeat_interleave": _repeat_interleave,
}


def _target_name(node: Node) -> str:
    if isinstance(node.target, str):
        return node.target
    return str(getattr(node.target, "__name__", ""))


def _is_mask(value: Any) -> bool:
    if not isinstance(value, Node):
        return False
    fake = value.meta.get("example_value")
    return isinstance(fake, torch.Tensor) and fake.dtype == torch.bool and fake.dim() > 0


def _fake_tensor(node: Any) -> torch.Tensor:
    fake = node.meta.get("example_value") if isinstance(node, Node) else None
    if not isinstance(fake, torch.Tensor):
        raise ValueUnknown("an argument is not a tensor")
    return fake


def _guarded_count(tx: Any, values: FrameValues, mask: Node) -> int:
    """Return the number of nonzero elements, guarded."""
    return int(values.read(tx, mask, "shape", torch.count_nonzero))


def _true_positions(tx: Any, values: FrameValues, node: Node, mask: Node) -> list[Node]:
    """Insert nodes that compute the positions of True, one node per dimension of the mask."""
    size = _guarded_count(tx, values, mask)
    positions = _insert_before(node, tx, torch.nonzero_static, mask, size=size)
    return [
        _insert_before(node, tx, torch.select, positions, 1, dimension)
        for dimension in range(_fake_tensor(mask).dim())
    ]


def _rewrite(node: Node, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    node.op = "call_function"
    node.target = target
    node.args = args
    node.kwargs = kwargs
    return True


def _insert_before(node: Node, tx: Any, target: Any, *args: Any, **kwargs: Any) -> Node:
    """Insert a new operation before a node, and set its fake value."""
    graph = tx.output.graph
    with graph.inserting_before(node):
        inserted: Node = graph.call_function(target, args, kwargs)
    inserted.meta.update((key, value) for key, value in node.meta.items() if key != "example_value")
    fake_args, fake_kwargs = torch.fx.node.map_arg(
        (args, kwargs), lambda argument: argument.meta["example_value"]
    )
    with tx.fake_mode:
        inserted.meta["example_value"] = target(*fake_args, **fake_kwargs)
    return inserted

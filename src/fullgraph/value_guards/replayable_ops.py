"""Which operations of a graph may be run again in a guard, and which may write to what they get."""

from __future__ import annotations

import operator
from typing import Any

import torch
from torch._dynamo.utils import numpy_operator_wrapper, numpy_to_tensor_wrapper
from torch.fx import Node

_NUMPY = (numpy_operator_wrapper, numpy_to_tensor_wrapper)

_OWNERS: tuple[Any, ...] = (
    torch,
    torch._C._VariableFunctions,
    torch.functional,
    torch.nn.functional,
    torch._C._nn,
    torch.special,
    torch.linalg,
    torch.Tensor,
)
# Not a value: a number for Python (that is what a guard is for), memory, or nothing that is set.
_NO_VALUE = frozenset(
    {"item", "tolist", "numpy", "data_ptr", "const_data_ptr", "storage", "untyped_storage"}
)
_UNSET = ("empty", "new_empty", "resize")
# `x.T` and the like.
_ATTRIBUTES = frozenset({"T", "mT", "H", "mH", "real", "imag", "shape", "ndim", "dtype", "device"})
_IN_PLACE_OPERATORS = frozenset(
    getattr(operator, name)
    for name in ("setitem", "delitem", "iadd", "iand", "iconcat", "ifloordiv", "ilshift", "imatmul",
                 "imod", "imul", "ior", "ipow", "irshift", "isub", "itruediv", "ixor")
)  # fmt: skip
# In a graph for what they do when something is wrong; they read only.
_CHECKS = frozenset({"_assert_async", "_assert_tensor_metadata", "_check", "_assert_scalar"})


# Of those that end with "_", the ones that put values into the memory of what they are called on;
# others have a form without "_".
_WRITES = frozenset({"copy_", "fill_", "zero_", "fill_diagonal_"})
_NO_WRITES = frozenset({"detach_", "share_memory_", "unsqueeze_", "squeeze_", "transpose_", "t_"})


def can_run_again(node: Node) -> bool:
    """Whether the operation gives the same for the same, and does nothing else."""
    if node.kwargs.get("out") is not None or node.kwargs.get("inplace"):
        return False
    if node.kwargs.get("generator") is not None:
        return False
    return _is_torch(node) and not _is_in_place(node) and _gives_a_value(node)


def can_write_again(node: Node) -> bool:
    """Whether the operation does nothing but put the same values into the same memory."""
    if node.kwargs.get("out") is not None or node.kwargs.get("generator") is not None:
        return False
    if isinstance(node.target, torch._ops.OpOverload) or not _is_torch(node):
        return False
    if node.target in _IN_PLACE_OPERATORS:
        return True
    name = _name(node)
    if name in _NO_WRITES or name.startswith(_UNSET) or not _is_in_place(node):
        return False
    return name in _WRITES or hasattr(torch.Tensor, name.removesuffix("_"))


def is_understood(node: Node) -> bool:
    """Whether what the operation writes to shows in the versions of its arguments."""
    if isinstance(node.target, torch._ops.OpOverload) and not node.target._schema.is_mutable:
        return True
    return _is_torch(node) or _name(node) in _CHECKS


def _is_torch(node: Node) -> bool:
    target = node.target
    if node.op == "call_method":
        return isinstance(target, str) and hasattr(torch.Tensor, target)
    if node.op != "call_function":
        return False
    if isinstance(target, torch._ops.OpOverload):
        return target.namespace in ("aten", "prims")
    if target is getattr:
        return len(node.args) == 2 and node.args[1] in _ATTRIBUTES
    if isinstance(target, _NUMPY):
        return _is_plain_numpy(target)
    name = getattr(target, "__name__", None)
    if not isinstance(name, str):
        return False
    if getattr(operator, name, None) is target:
        return True
    return any(getattr(owner, name, None) is target for owner in _OWNERS)


def _is_plain_numpy(target: Any) -> bool:
    """NumPy's functions on tensors, as Dynamo puts them into a graph."""
    if isinstance(target, numpy_operator_wrapper):
        return target.op not in _IN_PLACE_OPERATORS
    module = str(getattr(target.f, "__module__", ""))
    return module.startswith("torch._numpy") and "random" not in module


def _is_in_place(node: Node) -> bool:
    if isinstance(node.target, torch._ops.OpOverload):
        return bool(node.target._schema.is_mutable)
    name = _name(node)
    if getattr(operator, name, None) is node.target:
        return node.target in _IN_PLACE_OPERATORS
    return name.endswith("_") and not name.endswith("__")


def _gives_a_value(node: Node) -> bool:
    name = _name(node)
    return name not in _NO_VALUE and not name.startswith(_UNSET)


def _name(node: Node) -> str:
    if isinstance(node.target, str):
        return node.target
    if isinstance(node.target, torch._ops.OpOverload):
        return str(node.target._schema.name).split("::")[-1]
    return str(getattr(node.target, "__name__", ""))

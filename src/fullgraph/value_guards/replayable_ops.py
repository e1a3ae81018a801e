"""Decides which operations of a traced graph a guard may run again."""

from __future__ import annotations

import operator
from typing import Any

import torch
from torch._dynamo.utils import numpy_operator_wrapper, numpy_to_tensor_wrapper
from torch.fx import Node

_NUMPY_WRAPPERS = (numpy_operator_wrapper, numpy_to_tensor_wrapper)
_TORCH_NAMESPACES: tuple[Any, ...] = (
    torch,
    torch._C._VariableFunctions,
    torch.functional,
    torch.nn.functional,
    torch._C._nn,
    torch._C._special,
    torch._C._linalg,
    torch.Tensor,
)
# The result is a Python object or an address. Python numbers are what a guard is for: the tensor
# that they come from is replayed, not the conversion.
_NO_TENSOR_RESULT = frozenset(
    {"item", "tolist", "numpy", "data_ptr", "const_data_ptr", "storage", "untyped_storage"}
)
# The result has uninitialized memory.
_UNINITIALIZED_PREFIXES = ("empty", "new_empty", "resize")
# Attributes that Dynamo reads with `getattr` in the graph, for example `x.T`.
_TENSOR_ATTRIBUTES = frozenset(
    {"T", "mT", "H", "mH", "real", "imag", "shape", "ndim", "dtype", "device"}
)
_IN_PLACE_OPERATORS = frozenset(
    getattr(operator, name)
    for name in ("setitem", "delitem", "iadd", "iand", "iconcat", "ifloordiv", "ilshift", "imatmul",
                 "imod", "imul", "ior", "ipow", "irshift", "isub", "itruediv", "ixor")
)  # fmt: skip
# Assertions are in a graph for the error that they raise; they mutate nothing.
_ASSERTIONS = frozenset({"_assert_async", "_assert_tensor_metadata", "_check", "_assert_scalar"})
# A method whose name ends with "_" usually has a variant without "_". These mutate values too.
_VALUE_MUTATIONS_WITHOUT_VARIANT = frozenset({"copy_", "fill_", "zero_", "fill_diagonal_"})
# These change a tensor's metadata, not its values.
_METADATA_MUTATIONS = frozenset(
    {"detach_", "share_memory_", "unsqueeze_", "squeeze_", "transpose_", "t_"}
)


def is_replayable(node: Node) -> bool:
    """Return whether the operation is deterministic and has no side effects."""
    if node.kwargs.get("out") is not None or node.kwargs.get("inplace"):
        return False
    if node.kwargs.get("generator") is not None:
        return False
    return _is_torch_operation(node) and not _is_in_place(node) and _has_tensor_result(node)


def is_replayable_mutation(node: Node) -> bool:
    """Return whether the operation writes the same values to the same memory when it runs again."""
    if node.kwargs.get("out") is not None or node.kwargs.get("generator") is not None:
        return False
    if isinstance(node.target, torch._ops.OpOverload) or not _is_torch_operation(node):
        return False
    if node.target in _IN_PLACE_OPERATORS:
        return True
    name = operation_name(node)
    if name in _METADATA_MUTATIONS or name.startswith(_UNINITIALIZED_PREFIXES):
        return False
    if not _is_in_place(node):
        return False
    has_variant = hasattr(torch.Tensor, name.removesuffix("_"))
    return has_variant or name in _VALUE_MUTATIONS_WITHOUT_VARIANT


def has_visible_mutations(node: Node) -> bool:
    """Return whether all mutations by the operation show in the versions of its arguments."""
    if isinstance(node.target, torch._ops.OpOverload) and not node.target._schema.is_mutable:
        return True
    return _is_torch_operation(node) or operation_name(node) in _ASSERTIONS


def _is_torch_operation(node: Node) -> bool:
    target = node.target
    if node.op == "call_method":
        return isinstance(target, str) and hasattr(torch.Tensor, target)
    if node.op != "call_function":
        return False
    if isinstance(target, torch._ops.OpOverload):
        return target.namespace in ("aten", "prims")
    if target is getattr:
        return len(node.args) == 2 and node.args[1] in _TENSOR_ATTRIBUTES
    if isinstance(target, _NUMPY_WRAPPERS):
        return _is_replayable_numpy(target)
    name = operation_name(node)
    if getattr(operator, name, None) is target:
        return True
    return any(getattr(namespace, name, None) is target for namespace in _TORCH_NAMESPACES)


def _is_replayable_numpy(wrapper: Any) -> bool:
    """Return whether a NumPy function is safe; Dynamo wraps NumPy functions to take tensors."""
    if isinstance(wrapper, numpy_operator_wrapper):
        return wrapper.op not in _IN_PLACE_OPERATORS
    module = str(getattr(wrapper.f, "__module__", ""))
    return module.startswith("torch._numpy") and "random" not in module


def _is_in_place(node: Node) -> bool:
    if isinstance(node.target, torch._ops.OpOverload):
        return bool(node.target._schema.is_mutable)
    name = operation_name(node)
    if getattr(operator, name, None) is node.target:
        return node.target in _IN_PLACE_OPERATORS
    return name.endswith("_") and not name.endswith("__")


def _has_tensor_result(node: Node) -> bool:
    name = operation_name(node)
    return name not in _NO_TENSOR_RESULT and not name.startswith(_UNINITIALIZED_PREFIXES)


def operation_name(node: Node) -> str:
    """Return the name of a function, method or operator, without its namespace."""
    if isinstance(node.target, str):
        return node.target
    if isinstance(node.target, torch._ops.OpOverload):
        return str(node.target._schema.name).split("::")[-1]
    return str(getattr(node.target, "__name__", ""))

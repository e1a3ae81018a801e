"""What a function certainly needs of its operands: a tensor, or one of floating-point numbers.

Both look at the source only, so the answer also holds for calls that the program did not make.
"""

from __future__ import annotations

import ast

from fullgraph.analysis.user_lines.source_file import Function, SourceFile
from fullgraph.fix.source.names import qualified_name
from fullgraph.fix.source.torch_ops import (
    FLOAT_CASTS,
    LAYOUT,
    SAFE_IF_FINITE,
    UNBOUNDED_GRADIENT,
    words,
)
from fullgraph.recompiles.remedies._certain import is_float_tensor, only_binding
from fullgraph.recompiles.remedies._paths import calls_module_of_torch, has_branches
from fullgraph.recompiles.source_changes import PassedArgument

# Methods that only tensors have: neither numbers nor arrays of NumPy.
_ONLY_TENSORS = (
    FLOAT_CASTS
    | SAFE_IF_FINITE
    | (UNBOUNDED_GRADIENT - words("log"))
    | words(
        """abs bmm chunk contiguous detach expand index_select long masked_fill matmul mm numel
        permute relu requires_grad_ size softmax to topk unbind unsqueeze"""
    )
)
# Return floating-point numbers, whatever they get.
_FLOATING = FLOAT_CASTS | SAFE_IF_FINITE | UNBOUNDED_GRADIENT | words(
    "dropout layer_norm log_softmax mean rand randn rms_norm softmax std var"
)  # fmt: skip
_FLOATING_MODULES = words(
    """BatchNorm1d BatchNorm2d Bilinear Conv1d Conv2d Conv3d Embedding EmbeddingBag GroupNorm
    LayerNorm Linear RMSNorm Sigmoid Softmax Tanh"""
)
_KEEP_DTYPE = LAYOUT | words("clone detach expand flatten relu squeeze sum unsqueeze")


def needs_tensor(file: SourceFile, function: Function, expression: str) -> bool:
    """Return whether every call of a function fails if an expression in it is no tensor."""
    if has_branches(function):
        return False
    return any(
        _takes_tensor(file, node)
        for node in ast.walk(function)
        if isinstance(node, ast.Name | ast.Attribute | ast.Subscript)
        and isinstance(node.ctx, ast.Load)
        and ast.unparse(node) == expression
    )


def calls_method_of_tensors(file: SourceFile, use: ast.expr) -> bool:
    """Return whether a method of an expression is called that only tensors have."""
    around = file.parents.get(id(use))
    call = file.parents.get(id(around))
    is_called = isinstance(call, ast.Call) and call.func is around
    return is_called and isinstance(around, ast.Attribute) and around.attr in _ONLY_TENSORS


def _takes_tensor(file: SourceFile, use: ast.expr) -> bool:
    around = file.parents.get(id(use))
    if isinstance(around, ast.Attribute):
        return calls_method_of_tensors(file, use)
    if not isinstance(around, ast.Call) or use not in around.args:
        return False
    name = qualified_name(around.func, file.imports)
    is_of_torch = name.startswith("torch.nn.functional.") or name.rpartition(".")[0] == "torch"
    is_made = name.rpartition(".")[2] in ("tensor", "as_tensor", "is_tensor", "asarray")
    return (is_of_torch and not is_made) or calls_module_of_torch(file, around)


class FloatOperands:
    """Tells which expressions of a function certainly are tensors of floating-point numbers."""

    def __init__(
        self, file: SourceFile, function: Function, passed: dict[str, list[PassedArgument]]
    ) -> None:
        self._file = file
        self._function = function
        # What each call passes for the parameters; those that are not known are left out.
        self._passed = passed

    def is_floating(self, node: ast.expr) -> bool:
        """Return whether an expression is such a tensor in every call."""
        match node:
            case ast.Call(func=ast.Attribute(value=value, attr=name)) if name in _KEEP_DTYPE:
                return self.is_floating(value)
            case ast.Call():
                return self._returns_floating(node)
            case ast.BinOp(left=left, right=right):
                return self.is_floating(left) or self.is_floating(right)
            case ast.Subscript(value=value):
                return self.is_floating(value)
            case ast.Name(id=name) if name in self._passed:
                calls = self._passed[name]
                return bool(calls) and all(is_float_tensor(each.file, each.value) for each in calls)
            case ast.Name():
                bound = only_binding(self._file, node)
                is_plain = isinstance(bound, ast.Assign) and isinstance(bound.targets[0], ast.Name)
                return is_plain and isinstance(bound, ast.Assign) and self.is_floating(bound.value)
        return False

    def _returns_floating(self, call: ast.Call) -> bool:
        if calls_module_of_torch(self._file, call, _FLOATING_MODULES):
            return True
        name = qualified_name(call.func, self._file.imports)
        is_method = isinstance(call.func, ast.Attribute) and call.func.attr in _FLOATING
        is_of_torch = name.startswith("torch.") and name.rpartition(".")[2] in _FLOATING
        is_plain = not any(each.arg in ("dtype", None) for each in call.keywords)
        return is_plain and (is_of_torch or (is_method and not name.startswith("math.")))

    def is_computed_with(self, name: str, *, floating: bool) -> bool:
        """Return whether a function only computes with what a name or attribute stands for.

        `floating` says that the other operand has to be a tensor of floating-point numbers.
        """
        uses = [
            node
            for node in ast.walk(self._function)
            if isinstance(node, ast.Name | ast.Attribute) and ast.unparse(node) == name
        ]
        reads = [node for node in uses if isinstance(node.ctx, ast.Load)]
        return bool(reads) and all(self._is_operand(node, floating) for node in reads)

    def _is_operand(self, node: ast.expr, floating: bool) -> bool:
        around = self._file.parents.get(id(node))
        if not isinstance(around, ast.BinOp) or isinstance(around.op, ast.MatMult | ast.Pow):
            return False
        other = around.right if around.left is node else around.left
        if self.is_floating(other):
            return True
        return not floating and not isinstance(other, ast.Constant)

"""Infer which expressions of a function are boolean tensors, and which masks fit a tensor."""

from __future__ import annotations

import ast

from fullgraph.fix.source import torch_ops
from fullgraph.fix.source.inference.bindings import Bindings
from fullgraph.fix.source.inference.kinds import KindInference
from fullgraph.fix.source.inference.scope import Scope
from fullgraph.fix.source.text import source_of

# Return a tensor of the same shape.
_SAME_SHAPE = torch_ops.CASTS | {"clone", "contiguous", "detach", "to"}


class Masks:
    """The masks of one function."""

    def __init__(self, text: str, scope: Scope) -> None:
        self._text = text
        self._bindings = Bindings(scope.function)
        self._kinds = KindInference(scope)

    def same(self, one: ast.expr, other: ast.expr) -> bool:
        """Return whether two expressions are written alike."""
        return ast.dump(one) == ast.dump(other)

    def is_boolean(self, node: ast.expr) -> bool:
        """Return whether an expression is a tensor of booleans, provided that it is a tensor."""
        return self._kinds.kind_of(node).boolean

    def fitting(self, mask: ast.expr, tensor: ast.expr) -> str | None:
        """Return the mask's source if it has the tensor's shape; None if that is not known."""
        return source_of(self._text, mask) if self._fits(mask, tensor) else None

    def _fits(self, mask: ast.expr, tensor: ast.expr) -> bool:
        match mask:
            case ast.Name(id=name):
                value = self._only_value(name)
                return value is not None and self._keeps_shape(tensor) and self._fits(value, tensor)
            case ast.UnaryOp(op=ast.Invert(), operand=operand):
                return self._fits(operand, tensor)
            case ast.Compare(left=left, ops=[_], comparators=[ast.Constant()]):
                return self.same(left, tensor)
            case ast.Call(func=ast.Attribute(attr=name), args=[argument]) if (
                name in torch_ops.FINITENESS_TESTS
            ):
                return self.same(argument, tensor)
            case ast.Call(func=ast.Attribute(value=owner, attr=name), args=args) if (
                name in torch_ops.BOOLEAN
            ):
                is_plain = all(isinstance(argument, ast.Constant) for argument in args)
                return is_plain and self.same(owner, tensor)
        return False

    def _only_value(self, name: str) -> ast.expr | None:
        """Return the value of a name that is bound once; None for other names."""
        values = self._bindings.values(name)
        is_bound_once = len(values) == 1 and name not in self._bindings.arguments
        return values[0] if is_bound_once else None

    def _keeps_shape(self, tensor: ast.expr) -> bool:
        """Return whether a name refers to tensors of one shape in the whole function."""
        if not isinstance(tensor, ast.Name):
            return False
        values = self._bindings.values(tensor.id)
        is_bound_once = len(values) + (tensor.id in self._bindings.arguments) <= 1
        return is_bound_once or all(self._is_copy(value, tensor) for value in values)

    def _is_copy(self, value: ast.expr | None, tensor: ast.expr) -> bool:
        match value:
            case ast.Call(func=ast.Attribute(value=owner, attr=name)):
                return name in _SAME_SHAPE and self.same(owner, tensor)
        return False

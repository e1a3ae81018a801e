"""Which expressions of a function are seen to be plain Python numbers."""

from __future__ import annotations

import ast
from collections.abc import Callable

_SIZES = ("size", "numel", "dim", "nelement", "element_size", "stride")
_RANKS = ("ndim", "itemsize")
_ARITHMETIC = ast.Add | ast.Sub | ast.Mult | ast.Div | ast.FloorDiv | ast.Mod
_RISING = ast.Add | ast.Mult | ast.Div | ast.FloorDiv


class Numbers:
    """Names count if every binding of them in the function does."""

    def __init__(self, function: ast.FunctionDef) -> None:
        self._bound: dict[str, list[ast.expr | None]] = {}
        for node in ast.walk(function):
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    self._bind(target, node.value)
            elif isinstance(node, ast.arg):
                self._bound.setdefault(node.arg, []).append(None)
            elif isinstance(node, ast.AugAssign | ast.For | ast.comprehension | ast.NamedExpr):
                self._bind(node.target, None)
            elif isinstance(node, ast.withitem) and node.optional_vars is not None:
                self._bind(node.optional_vars, None)

    def _bind(self, target: ast.expr, value: ast.expr | None) -> None:
        if isinstance(target, ast.Name):
            self._bound.setdefault(target.id, []).append(value)
            return
        # `a, b = x.shape` binds numbers.
        of_shape = value is not None and self.is_shape(value) and isinstance(target, ast.Tuple)
        for each in ast.walk(target):
            if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
                known = ast.Subscript(value, ast.Constant(0)) if of_shape and value else None
                self._bound.setdefault(each.id, []).append(known)

    def is_shape(self, node: ast.expr) -> bool:
        """`x.shape`, `x.size()`, or a slice of one."""
        match node:
            case ast.Attribute(attr="shape"):
                return True
            case ast.Call(func=ast.Attribute(attr="size"), args=[], keywords=[]):
                return True
            case ast.Subscript(value=value, slice=ast.Slice()):
                return self.is_shape(value)
        return False

    def is_number(self, node: ast.expr, depth: int = 8) -> bool:
        match node:
            case _ if depth == 0:
                return False
            case ast.Constant(value=value):
                return isinstance(value, int | float)
            case ast.BinOp(left=left, op=op, right=right) if isinstance(op, _ARITHMETIC):
                return self.is_number(left, depth - 1) and self.is_number(right, depth - 1)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return self.is_number(operand, depth - 1)
            case ast.Name(id=name):
                return self._all_bindings(name, depth, self.is_number)
        return self._is_size(node)

    def not_negative(self, node: ast.expr, depth: int = 8) -> bool:
        """A number, and zero or more."""
        match node:
            case _ if depth == 0:
                return False
            case ast.Constant(value=value):
                return isinstance(value, int | float) and value >= 0
            case ast.BinOp(left=left, op=op, right=right) if isinstance(op, _RISING):
                return self.not_negative(left, depth - 1) and self.not_negative(right, depth - 1)
            case ast.Name(id=name):
                return self._all_bindings(name, depth, self.not_negative)
        return self._is_size(node)

    def _all_bindings(self, name: str, depth: int, holds: Callable[[ast.expr, int], bool]) -> bool:
        values = self._bound.get(name, [])
        return bool(values) and all(
            value is not None and holds(value, depth - 1) for value in values
        )

    def _is_size(self, node: ast.expr) -> bool:
        match node:
            case ast.Call(func=ast.Name(id="len"), args=[_], keywords=[]):
                return True
            case ast.Call(func=ast.Attribute(attr=name), args=arguments):
                return name in _SIZES and bool(arguments or name != "size")
            case ast.Attribute(attr=name):
                return name in _RANKS
            case ast.Subscript(value=value, slice=index):
                return self.is_shape(value) and not isinstance(index, ast.Slice | ast.Tuple)
        return False

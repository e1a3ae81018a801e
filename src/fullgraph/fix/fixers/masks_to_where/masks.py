"""What is selected with a boolean mask, and how the same is said of a whole tensor."""

from __future__ import annotations

import ast

from fullgraph.fix.source.edits import source_of, span

_TESTS = ("isnan", "isinf", "isfinite", "eq", "ne", "gt", "ge", "lt", "le", "bool", "logical_not")
_SAME_SHAPE = ("clone", "contiguous", "detach", "float", "double", "half", "bfloat16", "to", "long")
_CASTS = ("clone", "detach", "float", "double", "half", "bfloat16", "to", "long", "int")


class Masks:
    """The masks of one function."""

    def __init__(self, text: str, function: ast.FunctionDef) -> None:
        self._text = text
        self._bound: dict[str, list[ast.expr | None]] = {}
        for node in ast.walk(function):
            if isinstance(node, ast.Assign) and len(node.targets) == 1:
                self._bind(node.targets[0], node.value)
            elif isinstance(node, ast.Assign | ast.For | ast.comprehension | ast.With):
                for each in ast.walk(node):
                    if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
                        self._bound.setdefault(each.id, []).append(None)
            elif isinstance(node, ast.AugAssign | ast.NamedExpr | ast.AnnAssign):
                self._bind(node.target, None)

    def _bind(self, target: ast.expr, value: ast.expr | None) -> None:
        if isinstance(target, ast.Name):
            self._bound.setdefault(target.id, []).append(value)
        elif isinstance(target, ast.Tuple):
            for each in target.elts:
                self._bind(each, None)

    def same(self, one: ast.expr, other: ast.expr) -> bool:
        return ast.dump(one) == ast.dump(other)

    def of_whole(self, value: ast.expr, mask: ast.expr) -> str | None:
        """The words for `value` without the mask: `y * 2` for `y[mask] * 2`.

        Only what cannot go wrong on the elements that the mask leaves out, gradients included.
        None for anything else, and for what selects nothing with the mask.
        """
        if not any(self._selects(node, mask) for node in ast.walk(value)):
            return None
        return self._whole(value, mask)

    def _selects(self, node: ast.AST, mask: ast.expr) -> bool:
        return isinstance(node, ast.Subscript) and self.same(node.slice, mask)

    def _whole(self, value: ast.expr, mask: ast.expr) -> str | None:
        match value:
            case ast.Constant(value=int() | float()):
                return source_of(self._text, value)
            case ast.Subscript(value=ast.Name() | ast.Attribute()) if self._selects(value, mask):
                return source_of(self._text, value.value)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                inner = self._whole(operand, mask)
                return f"-{inner}" if inner and not isinstance(operand, ast.BinOp) else None
            case ast.Call(func=ast.Attribute(value=inner_node, attr=name)) if name in _CASTS:
                inner = self._whole(inner_node, mask)
                if inner is None or not isinstance(inner_node, ast.Subscript):
                    return None
                words = source_of(self._text, value)
                return inner + words[len(source_of(self._text, inner_node)) :]
            case ast.BinOp(left=left, op=op, right=right):
                one, other = self._whole(left, mask), self._whole(right, mask)
                if one is None or other is None or not _is_safe(op, left, right):
                    return None
                words = source_of(self._text, value)
                return _spliced(self._text, words, value, (left, one), (right, other))
        return None

    def fitting(self, mask: ast.expr, tensor: ast.expr) -> str | None:
        """The mask's words if it is seen to have the tensor's shape."""
        words = source_of(self._text, mask)
        return words if self._fits(mask, tensor) else None

    def _fits(self, mask: ast.expr, tensor: ast.expr) -> bool:
        match mask:
            case ast.Name(id=name):
                values = self._bound.get(name, [])
                if len(values) != 1 or values[0] is None or not self._keeps_shape(tensor):
                    return False
                return self._fits(values[0], tensor)
            case ast.UnaryOp(op=ast.Invert(), operand=operand):
                return self._fits(operand, tensor)
            case ast.Compare(left=left, ops=[_], comparators=[ast.Constant()]):
                return self.same(left, tensor)
            case ast.Call(func=ast.Attribute(attr="isnan" | "isinf" | "isfinite"), args=[argument]):
                return self.same(argument, tensor)
            case ast.Call(func=ast.Attribute(value=owner, attr=name), args=args) if name in _TESTS:
                constant = all(isinstance(each, ast.Constant) for each in args)
                return constant and self.same(owner, tensor)
        return False

    def _keeps_shape(self, tensor: ast.expr) -> bool:
        """Whether a name stands for tensors of one shape throughout the function."""
        if not isinstance(tensor, ast.Name):
            return False
        values = self._bound.get(tensor.id, [])
        return len(values) <= 1 or all(self._is_copy(each, tensor) for each in values)

    def _is_copy(self, value: ast.expr | None, tensor: ast.expr) -> bool:
        match value:
            case ast.Call(func=ast.Attribute(value=owner, attr=name)):
                return name in _SAME_SHAPE and self.same(owner, tensor)
        return False

    def is_truth(self, node: ast.expr, depth: int = 6) -> bool:
        """Whether it is seen to be a tensor of truths."""
        match node:
            case _ if depth == 0:
                return False
            case ast.Compare(
                ops=[ast.Eq() | ast.NotEq() | ast.Lt() | ast.LtE() | ast.Gt() | ast.GtE()]
            ):
                return True
            case ast.UnaryOp(op=ast.Invert(), operand=operand):
                return self.is_truth(operand, depth - 1)
            case ast.BinOp(left=left, op=ast.BitAnd() | ast.BitOr(), right=right):
                return self.is_truth(left, depth - 1) and self.is_truth(right, depth - 1)
            case ast.Call(func=ast.Attribute(attr=name)):
                return name in _TESTS
            case ast.Name(id=name):
                values = self._bound.get(name, [])
                return bool(values) and all(
                    each is not None and self.is_truth(each, depth - 1) for each in values
                )
        return False


def _is_safe(op: ast.operator, left: ast.expr, right: ast.expr) -> bool:
    """A product with infinity or NaN would send NaN back to elements that are not selected."""
    match op:
        case ast.Add() | ast.Sub():
            return True
        case ast.Mult():
            return isinstance(left, ast.Constant) or isinstance(right, ast.Constant)
        case ast.Div():
            return isinstance(right, ast.Constant) and right.value != 0
    return False


def _spliced(text: str, words: str, whole: ast.expr, *parts: tuple[ast.expr, str]) -> str:
    """The words of an expression with other words for two parts of it, parentheses kept."""
    start = span(text, whole)[0]
    for part, new in reversed(parts):
        first, last = (place - start for place in span(text, part))
        words = words[:first] + new + words[last:]
    return words

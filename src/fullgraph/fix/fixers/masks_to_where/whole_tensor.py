"""Expressions of selected elements as expressions of the whole tensor: `y[mask] * 2` → `y * 2`."""

from __future__ import annotations

import ast

from fullgraph.fix.source.declined import Declined, quoted
from fullgraph.fix.source.edits import apply_edits, replace_nodes
from fullgraph.fix.source.text import source_of, span

_CASTS = ("clone", "detach", "float", "double", "half", "bfloat16", "to", "long", "int")


def is_selection(node: ast.AST, mask: ast.expr) -> bool:
    """Return whether a node is `y[mask]`."""
    return isinstance(node, ast.Subscript) and ast.dump(node.slice) == ast.dump(mask)


def selects_with(value: ast.expr, mask: ast.expr) -> bool:
    """Return whether an expression contains `y[mask]`."""
    return any(is_selection(node, mask) for node in ast.walk(value))


def whole_tensor_source(text: str, value: ast.expr, mask: ast.expr) -> str:
    """Return an expression with `y` in the place of each `y[mask]`.

    Declined is raised for operations that may fail for elements outside the mask, or may make
    their gradients NaN.
    """
    _require_safe(value, mask)
    changes = [
        (node, source_of(text, node.value))
        for node in ast.walk(value)
        if isinstance(node, ast.Subscript) and is_selection(node, mask)
    ]
    start, end = span(text, value)
    return apply_edits(text[:end], replace_nodes(text, changes))[start:]


def _require_safe(value: ast.expr, mask: ast.expr) -> None:
    match value:
        case ast.Constant(value=int() | float()):
            return
        case ast.Subscript(value=ast.Name() | ast.Attribute()) if is_selection(value, mask):
            return
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            _require_safe(operand, mask)
        case ast.Call(func=ast.Attribute(value=ast.Subscript() as owner, attr=name)) if (
            name in _CASTS
        ):
            _require_safe(owner, mask)
        case ast.BinOp(left=left, op=op, right=right):
            if not _is_safe_operator(op, left, right):
                raise Declined(f"{quoted(value)} may be NaN where the mask is False", value)
            _require_safe(left, mask)
            _require_safe(right, mask)
        case ast.Name() | ast.Attribute() | ast.Subscript():
            raise Declined(f"{quoted(value)} is not selected with the mask", value)
        case _:
            raise Declined(
                f"{quoted(value)} is not known to be safe where the mask is False", value
            )


def _is_safe_operator(op: ast.operator, left: ast.expr, right: ast.expr) -> bool:
    """Return whether an operation cannot make elements outside the mask, or gradients, NaN.

    The gradient of a product with infinity or NaN is NaN even where nothing is selected.
    """
    match op:
        case ast.Add() | ast.Sub():
            return True
        case ast.Mult():
            return isinstance(left, ast.Constant) or isinstance(right, ast.Constant)
        case ast.Div():
            return isinstance(right, ast.Constant) and right.value != 0
    return False

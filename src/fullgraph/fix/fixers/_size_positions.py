"""Find the expressions of a function that are sizes or indices of tensors."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fullgraph.fix.source.torch_ops import SIZE_ARGUMENTS, SIZE_KEYWORDS


def sizes_in(function: ast.FunctionDef) -> Iterator[ast.expr]:
    """Yield arguments that are sizes, and bounds of slices; tuples as their elements."""
    for node in ast.walk(function):
        match node:
            case ast.Call(func=ast.Attribute(attr=name), args=args, keywords=keywords):
                if name not in SIZE_ARGUMENTS:
                    continue
                named = [each.value for each in keywords if each.arg in SIZE_KEYWORDS]
                for each in (*args[SIZE_ARGUMENTS[name]], *named):
                    yield from _elements(each)
            case ast.Slice(lower=lower, upper=upper):
                yield from (bound for bound in (lower, upper) if bound is not None)


def _elements(node: ast.expr) -> Iterator[ast.expr]:
    if isinstance(node, ast.Tuple | ast.List):
        for each in node.elts:
            yield from _elements(each)
    elif not isinstance(node, ast.Starred):
        yield node


def indices_in(function: ast.FunctionDef) -> Iterator[tuple[ast.Subscript, ast.expr, int]]:
    """Yield `x[i]` and `x[:, i]` where they are read, with the index and its dimension."""
    for node in ast.walk(function):
        if not isinstance(node, ast.Subscript) or not isinstance(node.ctx, ast.Load):
            continue
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        *before, index = parts
        if all(_is_all(each) for each in before) and not isinstance(index, ast.Slice):
            yield node, index, len(before)


def _is_all(node: ast.expr) -> bool:
    return isinstance(node, ast.Slice) and not (node.lower or node.upper or node.step)

"""Where a function says how large something is, or which part of it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

# From a name to the positional arguments that are sizes, as a slice of them.
_CALLS: dict[str, slice] = {
    **dict.fromkeys(("zeros", "ones", "empty", "rand", "randn", "arange", "eye"), slice(None)),
    **dict.fromkeys(("view", "reshape", "expand", "repeat", "tile"), slice(None)),
    **dict.fromkeys(("new_zeros", "new_ones", "new_empty"), slice(None)),
    **dict.fromkeys(("full", "new_full", "topk"), slice(0, 1)),
    **dict.fromkeys(("pad", "unflatten"), slice(1, 2)),
    "interpolate": slice(1, 2),
    "narrow": slice(1, None),
}
_KEYWORDS = ("size", "pad", "start", "end", "length", "k")


def sizes_in(function: ast.FunctionDef) -> Iterator[ast.expr]:
    """Arguments that are sizes, and bounds of slices; the elements of tuples one by one."""
    for node in ast.walk(function):
        match node:
            case ast.Call(func=ast.Attribute(attr=name), args=args, keywords=keywords):
                if name not in _CALLS:
                    continue
                named = [each.value for each in keywords if each.arg in _KEYWORDS]
                for each in (*args[_CALLS[name]], *named):
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
    """`x[i]`, `x[:, i]` and so on where they are read: the index, and its dimension."""
    for node in ast.walk(function):
        if not isinstance(node, ast.Subscript) or not isinstance(node.ctx, ast.Load):
            continue
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        *before, index = parts
        if all(_is_all(each) for each in before) and not isinstance(index, ast.Slice):
            yield node, index, len(before)


def _is_all(node: ast.expr) -> bool:
    return isinstance(node, ast.Slice) and not (node.lower or node.upper or node.step)

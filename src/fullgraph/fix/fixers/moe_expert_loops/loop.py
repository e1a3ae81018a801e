"""Loops over the experts that got tokens: what they are made of."""

from __future__ import annotations

import ast

from msgspec import Struct

from fullgraph.fix.source.edits import source_of

_FLAT = ("flatten", "squeeze", "view", "reshape")
_BOTH = ((-1, -2), (-2, -1), (1, 2), (2, 1))


class Hits(Struct, frozen=True):
    """`for turn in hits`, with `hits` the rows of a one-hot mask that are not empty."""

    loop: ast.For
    turn: str
    mask: str
    # How many rows the mask has, in the program's words, and without the one that may be extra.
    rows: str
    experts: str
    # The statement that finds the rows, if the loop does not do so itself.
    found_by: ast.Assign | None
    # Each is a tensor of one element, not of none.
    boxed: bool


def hits_of(text: str, function: ast.FunctionDef, loop: ast.For) -> Hits | None:
    if not isinstance(loop.target, ast.Name) or loop.orelse:
        return None
    source, found_by = loop.iter, None
    if isinstance(source, ast.Name):
        found_by = _only_binding(function, source.id)
        if found_by is None or _count_loads(function, source.id) != 1:
            return None
        source = found_by.value
    boxed, condition = _nonzero(source)
    mask = _summed_mask(condition) if condition is not None else None
    rows = _classes(function, mask) if mask is not None else None
    if mask is None or rows is None:
        return None
    experts = rows
    match rows:
        case ast.BinOp(left=left, op=ast.Add(), right=ast.Constant(value=1)):
            experts = left
    # It is asked for once more, at the loop.
    if not isinstance(experts, ast.Attribute | ast.Name | ast.Constant):
        return None
    return Hits(
        loop=loop,
        turn=loop.target.id,
        mask=mask,
        rows=source_of(text, rows),
        experts=source_of(text, experts),
        found_by=found_by,
        boxed=boxed,
    )


def _bindings(function: ast.FunctionDef, name: str) -> list[ast.Assign]:
    found = [
        node
        for node in ast.walk(function)
        if isinstance(node, ast.Assign)
        and any(isinstance(each, ast.Name) and each.id == name for each in node.targets)
    ]
    return sorted(found, key=lambda node: node.lineno)


def _only_binding(function: ast.FunctionDef, name: str) -> ast.Assign | None:
    stores = [
        node
        for node in ast.walk(function)
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store)
    ]
    found = _bindings(function, name)
    return found[0] if len(found) == 1 == len(stores) else None


def _count_loads(function: ast.FunctionDef, name: str) -> int:
    nodes = (node for node in ast.walk(function) if isinstance(node, ast.Name))
    return sum(node.id == name and isinstance(node.ctx, ast.Load) for node in nodes)


def _nonzero(source: ast.expr) -> tuple[bool, ast.expr | None]:
    """Whether the indices come in tensors of one element each, and of what they are."""
    match source:
        case ast.Call(func=ast.Attribute(value=inner, attr=name)) if name in _FLAT:
            return False, _nonzero(inner)[1]
        case ast.Call(func=ast.Attribute(value=inner, attr="tolist"), args=[], keywords=[]):
            return _nonzero(inner)
        case ast.Subscript(value=inner, slice=ast.Constant(value=0)):
            return False, _tupled(inner)
        case ast.Call(func=ast.Attribute(attr="nonzero"), keywords=[]):
            return True, _argument(source)
    return False, None


def _tupled(source: ast.expr) -> ast.expr | None:
    match source:
        case ast.Call(func=ast.Attribute(attr="where"), args=[condition], keywords=[]):
            return condition
        case ast.Call(
            func=ast.Attribute(attr="nonzero"),
            keywords=[ast.keyword(arg="as_tuple", value=ast.Constant(value=True))],
        ):
            return _argument(source)
    return None


def _argument(call: ast.Call) -> ast.expr | None:
    """`x` of `x.nonzero()` and of `torch.nonzero(x)`."""
    if len(call.args) == 1:
        return call.args[0]
    return call.func.value if isinstance(call.func, ast.Attribute) and not call.args else None


def _summed_mask(condition: ast.expr) -> str | None:
    """The mask whose rows are asked for: `mask.sum(dim=(-1, -2)) > 0`."""
    match condition:
        case ast.Compare(left=left, ops=[ast.Gt() | ast.NotEq()], comparators=[zero]):
            summed = left if _is_zero(zero) else None
        case ast.Call(func=ast.Attribute(attr="greater" | "gt"), args=[left, zero], keywords=[]):
            summed = left if _is_zero(zero) else None
        case _:
            summed = condition
    match summed:
        case (
            ast.Call(
                func=ast.Attribute(value=ast.Name(id=name), attr="sum"),
                args=[],
                keywords=[ast.keyword(arg="dim", value=dims)],
            )
            | ast.Call(
                func=ast.Attribute(value=ast.Name(id=name), attr="sum"), args=[dims], keywords=[]
            )
        ):
            return name if _numbers(dims) in _BOTH else None
    return None


def _is_zero(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == 0


def _numbers(node: ast.expr) -> object:
    try:
        return tuple(ast.literal_eval(node))
    except (ValueError, TypeError):
        return None


def _classes(function: ast.FunctionDef, mask: str) -> ast.expr | None:
    """The number of rows of `one_hot(…, num_classes=n).permute(2, 1, 0)`, in one step or two."""
    bindings = _bindings(function, mask)
    if not 1 <= len(bindings) <= 2:
        return None
    last = bindings[-1].value
    match last:
        case ast.Call(func=ast.Attribute(value=inner, attr="permute"), args=args, keywords=[]):
            if [_value(each) for each in args] != [2, 1, 0]:
                return None
        case _:
            return None
    if len(bindings) == 2:
        if not (isinstance(inner, ast.Name) and inner.id == mask):
            return None
        inner = bindings[0].value
    match inner:
        case ast.Call(func=ast.Attribute(attr="one_hot"), args=[_, classes], keywords=[]):
            return classes
        case ast.Call(
            func=ast.Attribute(attr="one_hot"),
            args=[_],
            keywords=[ast.keyword(arg="num_classes", value=classes)],
        ):
            return classes
    return None


def _value(node: ast.expr) -> object:
    return node.value if isinstance(node, ast.Constant) else None

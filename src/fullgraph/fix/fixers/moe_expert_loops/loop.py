"""Recognize loops over the experts that got tokens."""

from __future__ import annotations

import ast

from msgspec import Struct

from fullgraph.fix.source.declined import Declined
from fullgraph.fix.source.text import source_of

_FLATTENING = ("flatten", "squeeze", "view", "reshape")
_LAST_TWO_DIMENSIONS = ((-1, -2), (-2, -1), (1, 2), (2, 1))


class ExpertLoop(Struct, frozen=True):
    """`for variable in ...`, over the rows of a one-hot mask that are not empty."""

    loop: ast.For
    variable: str
    mask: str
    # The source of the number of rows of the mask, and of that without an extra class.
    classes: str
    experts: str
    # The statement that finds the rows; None if the loop itself does.
    found_by: ast.Assign | None
    # Whether the variable is a tensor with one dimension, not a 0-d tensor.
    has_dimension: bool


def expert_loop(text: str, function: ast.FunctionDef, loop: ast.For) -> ExpertLoop | None:
    """Return the parts of a loop over experts; None for other loops.

    Declined is raised if the number of experts is not known, or the indices have other uses.
    """
    found_by = iterated_binding(function, loop)
    has_dimension, condition = _nonzero_rows(found_by.value if found_by else loop.iter)
    mask = _summed_mask(condition) if condition is not None else None
    if mask is None or not isinstance(loop.target, ast.Name):
        return None
    if isinstance(loop.iter, ast.Name) and _count_loads(function, loop.iter.id) != 1:
        raise Declined(f"`{loop.iter.id}` is also used outside the loop", loop)
    classes = _class_count(function, mask)
    if classes is None:
        raise Declined(f"`{mask}` is not known to come from `one_hot`", loop)
    experts = classes
    match classes:
        case ast.BinOp(left=left, op=ast.Add(), right=ast.Constant(value=1)):
            experts = left
    # It is evaluated again, at the loop.
    if not isinstance(experts, ast.Attribute | ast.Name | ast.Constant):
        raise Declined("the number of experts is not a name, an attribute or a constant", classes)
    return ExpertLoop(
        loop=loop,
        variable=loop.target.id,
        mask=mask,
        classes=source_of(text, classes),
        experts=source_of(text, experts),
        found_by=found_by,
        has_dimension=has_dimension,
    )


def iterated_binding(function: ast.FunctionDef, loop: ast.For) -> ast.Assign | None:
    """Return the only assignment of the name that a loop iterates over.

    None if the loop iterates over another expression, or the name is bound more than once.
    """
    if not isinstance(loop.iter, ast.Name):
        return None
    name = loop.iter.id
    stores = [
        node
        for node in ast.walk(function)
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store)
    ]
    found = _assignments(function, name)
    return found[0] if len(found) == 1 == len(stores) else None


def _assignments(function: ast.FunctionDef, name: str) -> list[ast.Assign]:
    """Return the assignments of a name, in the order of the source."""
    found = [
        node
        for node in ast.walk(function)
        if isinstance(node, ast.Assign)
        and any(isinstance(each, ast.Name) and each.id == name for each in node.targets)
    ]
    return sorted(found, key=lambda node: node.lineno)


def _count_loads(function: ast.FunctionDef, name: str) -> int:
    nodes = (node for node in ast.walk(function) if isinstance(node, ast.Name))
    return sum(node.id == name and isinstance(node.ctx, ast.Load) for node in nodes)


def _nonzero_rows(source: ast.expr) -> tuple[bool, ast.expr | None]:
    """Return whether each index is a 1-d tensor, and the tensor whose nonzero elements are found.

    None if the expression does not find nonzero elements.
    """
    match source:
        case ast.Call(func=ast.Attribute(value=inner, attr=name)) if name in _FLATTENING:
            return False, _nonzero_rows(inner)[1]
        case ast.Call(func=ast.Attribute(value=inner, attr="tolist"), args=[], keywords=[]):
            return _nonzero_rows(inner)
        case ast.Subscript(value=inner, slice=ast.Constant(value=0)):
            return False, _nonzero_tuple(inner)
        case ast.Call(func=ast.Attribute(attr="nonzero"), keywords=[]):
            return True, _argument(source)
    return False, None


def _nonzero_tuple(source: ast.expr) -> ast.expr | None:
    """Return `c` of `torch.where(c)` and `c.nonzero(as_tuple=True)`; None for other nodes."""
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
    """Return `x` of `x.nonzero()` and of `torch.nonzero(x)`; None for other arguments."""
    if len(call.args) == 1:
        return call.args[0]
    return call.func.value if isinstance(call.func, ast.Attribute) and not call.args else None


def _summed_mask(condition: ast.expr) -> str | None:
    """Return the name of the mask in `mask.sum(dim=(-1, -2)) > 0`; None for other conditions."""
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
            return name if _constant_tuple(dims) in _LAST_TWO_DIMENSIONS else None
    return None


def _is_zero(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == 0


def _constant_tuple(node: ast.expr) -> object:
    """Return the value of a tuple of constants; None for other nodes."""
    try:
        return tuple(ast.literal_eval(node))
    except (ValueError, TypeError):
        return None


def _class_count(function: ast.FunctionDef, mask: str) -> ast.expr | None:
    """Return `n` of `mask = one_hot(x, num_classes=n).permute(2, 1, 0)`, in one or two statements.

    None if the mask is computed in another way.
    """
    assignments = _assignments(function, mask)
    if not 1 <= len(assignments) <= 2:
        return None
    match assignments[-1].value:
        case ast.Call(func=ast.Attribute(value=inner, attr="permute"), args=args, keywords=[]):
            dims = [each.value if isinstance(each, ast.Constant) else None for each in args]
            if dims != [2, 1, 0]:
                return None
        case _:
            return None
    if len(assignments) == 2:
        if not (isinstance(inner, ast.Name) and inner.id == mask):
            return None
        inner = assignments[0].value
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

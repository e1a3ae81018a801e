"""Tensors that are written to in place, and such a store as one that happens on a condition."""

from __future__ import annotations

import ast

from fullgraph.fix.fixers._branches.branch import Place
from fullgraph.fix.source.codegen import indented, room_at, where
from fullgraph.fix.source.edits import source_of
from fullgraph.fix.source.inference.function import Reader
from fullgraph.fix.source.inference.scope import self_attribute

# In place, and the same without that.
_IN_PLACE = {"add_", "clamp_", "clamp_max_", "clamp_min_", "lerp_", "mul_", "neg_", "sub_"}
_SIGNS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*"}


def written_to(function: ast.FunctionDef) -> set[str]:
    """Names and attributes whose tensors the function writes to."""
    found: set[str] = set()
    for node in ast.walk(function):
        match node:
            case ast.AugAssign(target=target):
                found.add(_base(target))
            case ast.Subscript(value=value, ctx=ast.Store() | ast.Del()):
                found.add(_base(value))
            case ast.Call(func=ast.Attribute(value=value, attr=name)):
                if name.endswith("_") and not name.endswith("__"):
                    found.add(_base(value))
            case ast.keyword(arg="out", value=value):
                found.add(_base(value))
    return found - {""}


def _base(node: ast.expr) -> str:
    """`x` for `x[0]` and `x.view(-1)`, `self.x` for `self.x[0]`."""
    while True:
        if isinstance(node, ast.Name) or self_attribute(node):
            return ast.unparse(node)
        match node:
            case ast.Subscript(value=value) | ast.Attribute(value=value) | ast.Call(func=value):
                node = value
            case _:
                return ""


def conditional_store(
    place: Place, reader: Reader, statement: ast.stmt, condition: str
) -> list[str] | None:
    """A statement that stores, as one that stores what is there already if it must not."""
    match statement:
        case ast.Assign(targets=[ast.Subscript() as target], value=value):
            line = _masked(place, reader, target, value, condition)
            return None if line is None else [line]
        case ast.Expr(value=ast.Call(func=ast.Attribute()) as call):
            return _in_place(place, reader, call, condition)
        case ast.AugAssign(target=ast.Attribute() as target, op=op, value=value):
            sign = _SIGNS.get(type(op))
            if sign is None or not _is_free_buffer(place, target):
                return None
            if not _is_harmless(reader, value):
                return None
            name = ast.unparse(target)
            new = f"{name} {sign} {source_of(place.text, value)}"
            return _copied(place, name, condition, new)
    return None


def _copied(place: Place, name: str, condition: str, new: str) -> list[str]:
    room = room_at(place.text, place.statement)
    line = f"{name}.copy_(torch.where({condition}, {new}, {name}))"
    if len(line) <= room:
        return [line]
    return [f"{name}.copy_(", *indented(where("", condition, new, name, room - 4)), ")"]


def _in_place(place: Place, reader: Reader, call: ast.Call, condition: str) -> list[str] | None:
    """`self.x.mul_(0.9).add_(y)`, with the same operators in the same order."""
    steps: list[ast.Call] = []
    node: ast.expr = call
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        steps.append(node)
        node = node.func.value
    if not isinstance(node, ast.Attribute) or not _is_free_buffer(place, node):
        return None
    arguments = [a for s in steps for a in (*s.args, *(k.value for k in s.keywords))]
    if not all(_is_harmless(reader, argument) for argument in arguments):
        return None
    name = ast.unparse(node)
    new = name
    for step in reversed(steps):
        if not isinstance(step.func, ast.Attribute):
            return None
        written = _out_of_place(step.func.attr, name, new, _arguments(place, step))
        if written is None:
            return None
        new = written
    return _copied(place, name, condition, new)


def _out_of_place(method: str, buffer: str, before: str, arguments: str) -> str | None:
    if method in _IN_PLACE:
        return f"{before}.{method[:-1]}({arguments})"
    if before != buffer:
        return None
    if method == "zero_" and not arguments:
        return f"torch.zeros_like({buffer})"
    if method == "fill_":
        return f"torch.full_like({buffer}, {arguments})"
    # A copy has the type of what is written to.
    return f"({arguments}).to({buffer}.dtype)" if method == "copy_" else None


def _arguments(place: Place, call: ast.Call) -> str:
    values = [source_of(place.text, each) for each in call.args]
    values += [f"{each.arg}={source_of(place.text, each.value)}" for each in call.keywords]
    return ", ".join(values)


def _masked(
    place: Place, reader: Reader, target: ast.Subscript, value: ast.expr, condition: str
) -> str | None:
    """`x[mask] = 1`: the mask says where, so it can say nowhere."""
    mask = reader.read(target.slice) if isinstance(target.slice, ast.expr) else None
    if mask is None or not mask.is_bool or mask.risk == "risky":
        return None
    is_number = isinstance(value, ast.Constant) and isinstance(value.value, int | float)
    tensor = target.value
    if not is_number or not isinstance(tensor, ast.Name):
        return None
    if _is_used_before(place, ast.unparse(tensor)):
        return None
    where = f"{_bracketed(place, target.slice)} & ({condition})"
    return f"{tensor.id}[{where}] = {source_of(place.text, value)}"


def _bracketed(place: Place, node: ast.expr) -> str:
    text = source_of(place.text, node)
    return text if isinstance(node, ast.Call | ast.Name) else f"({text})"


def _is_harmless(reader: Reader, node: ast.expr) -> bool:
    return reader.read(node).risk != "risky"


def _is_free_buffer(place: Place, node: ast.expr) -> bool:
    """A buffer that no gradient needs as it was before the store."""
    name = self_attribute(node)
    if not name or name not in place.scope.buffers:
        return False
    return _is_without_gradients(place) or not _is_used_before(place, ast.unparse(node))


def _is_used_before(place: Place, name: str) -> bool:
    """Whether a tensor went into something in front of the branch, other than its own new value."""
    for node in ast.walk(place.scope.function):
        if not isinstance(node, ast.stmt) or isinstance(node, ast.FunctionDef):
            continue
        if node.lineno >= place.statement.lineno or hasattr(node, "body"):
            continue
        binds = isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == name
        uses = any(
            isinstance(each, ast.expr) and ast.unparse(each) == name for each in ast.walk(node)
        )
        if uses and not binds:
            return True
    return False


def _is_without_gradients(place: Place) -> bool:
    function = place.scope.function
    if any("no_grad" in ast.unparse(each) for each in function.decorator_list):
        return True
    return any(
        isinstance(node, ast.With)
        and any("no_grad" in ast.unparse(item.context_expr) for item in node.items)
        and node.lineno <= place.statement.lineno <= (node.end_lineno or 0)
        for node in ast.walk(function)
    )

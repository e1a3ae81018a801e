"""A check on a tensor, written with operators that check."""

from __future__ import annotations

import ast

from fullgraph.fix.fixers._branches.branch import Place
from fullgraph.fix.fixers._branches.predicate import TensorTest, opposite, tensor_test
from fullgraph.fix.source.codegen import call, indented, replaced, room_at, written
from fullgraph.fix.source.control_flow import path_to
from fullgraph.fix.source.edits import source_of
from fullgraph.fix.source.inference.function import Reader

_COMPILING = "torch.compiler.is_compiling()"
_LEFT_OUT = "..."
# They mean something to those who call.
_SIGNALS = ("StopIteration", "StopAsyncIteration", "GeneratorExit", "KeyboardInterrupt")


def check_as_operator(place: Place) -> str | None:
    """The file with the check as an operator while compiling; None if it is no mere check."""
    node = place.node
    if not isinstance(node, ast.If | ast.Assert) or _is_awaited(place):
        return None
    message = _message(node)
    if message is None:
        return None
    if not message.replace(_LEFT_OUT, ""):
        message = f"a check in {place.scope.function.name} failed"
    checked = _symbol(place, message) if place.symbol else _tensor(place, message)
    if checked is None:
        return None
    lines = [f"if {_COMPILING}{_guard(place)}:", *indented(checked)]
    if isinstance(node, ast.Assert):
        lines += ["else:", *indented(written(place.text, [node]))]
    elif _is_elif(place, node):
        return None
    else:
        first, *rest = written(place.text, [node])
        lines += [f"el{first}", *rest]
    return replaced(place.text, [node], lines)


def _tensor(place: Place, message: str) -> list[str] | None:
    reader = Reader(place.scope, place.statement)
    test = tensor_test(place, reader, flat=False)
    if test is None or not (reader.is_surely_tensor(place.node.test) or _guard(place)):
        return None
    room = room_at(place.text, place.statement) - 4 * (1 + bool(test.first))
    lines = call("", "torch._assert_async", [_holds(place, test), repr_of(message)], room)
    if test.first:
        return [f"if {' and '.join(test.first)}:", *indented(lines)]
    return lines


def _holds(place: Place, test: TensorTest) -> str:
    """What must be true."""
    is_good = isinstance(place.node, ast.Assert)
    return opposite(test.tensor) if test.negated is is_good else test.tensor


def _guard(place: Place) -> str:
    """For an argument that is checked and need not be a tensor: somebody may pass a number."""
    test = place.node.test
    while isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        test = test.operand
    operands = [test.left, *test.comparators] if isinstance(test, ast.Compare) else [test]
    names = [each.id for each in operands if isinstance(each, ast.Name)]
    open_ones = [name for name in names if name in place.scope.arguments]
    if place.symbol or not open_ones or len(names) != len(operands):
        return ""
    return f" and isinstance({open_ones[0]}, torch.Tensor)"


def _symbol(place: Place, message: str) -> list[str]:
    """A number that was read out of a tensor and has become a symbol."""
    is_good = isinstance(place.node, ast.Assert)
    test = place.node.test
    every = ast.And if is_good else ast.Or
    parts = [test]
    if isinstance(test, ast.BoolOp) and isinstance(test.op, every):
        parts = test.values
    room = room_at(place.text, place.statement) - 4
    lines: list[str] = []
    for part in parts:
        wanted, inner = is_good, part
        while isinstance(inner, ast.UnaryOp) and isinstance(inner.op, ast.Not):
            wanted, inner = not wanted, inner.operand
        text = source_of(place.text, inner)
        holds = text if wanted else f"torch.sym_not({text})"
        lines += call("", "torch._check", [holds, f"lambda: {repr_of(message)}"], room)
    return lines


def repr_of(message: str) -> str:
    """As a formatter would write it."""
    plain = repr(message)
    return f'"{message}"' if plain == f"'{message}'" and '"' not in message else plain


# What a check is


def _message(node: ast.If | ast.Assert) -> str | None:
    """What it says; None if the statement does more than raise."""
    if isinstance(node, ast.Assert):
        return _words(node.msg) if node.msg is not None else "AssertionError"
    if node.orelse:
        return None
    *before, last = node.body
    if not isinstance(last, ast.Raise) or last.exc is None:
        return None
    if not all(_only_prepares(statement) for statement in before):
        return None
    raised = last.exc.func if isinstance(last.exc, ast.Call) else last.exc
    kind = ast.unparse(raised)
    if kind in _SIGNALS or not kind.replace(".", "").isidentifier():
        return None
    arguments = last.exc.args if isinstance(last.exc, ast.Call) else []
    return _words(arguments[0]) if arguments else kind


def _only_prepares(statement: ast.stmt) -> bool:
    """A name for the message."""
    match statement:
        case ast.Assign(targets=[ast.Name()]):
            return True
    return False


def _words(node: ast.expr) -> str:
    """The text of a message as far as it is known without values."""
    match node:
        case ast.Constant(value=value):
            return str(value)
        case ast.JoinedStr(values=values):
            return "".join(_words(value) for value in values)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _words(left) + _words(right)
        case ast.BinOp(left=left, op=ast.Mod()):
            return _words(left)
        case ast.Call(func=ast.Attribute(value=value, attr="format")):
            return _words(value)
    return _LEFT_OUT


def _is_awaited(place: Place) -> bool:
    """Whether the function itself may catch what is raised."""
    return any(
        isinstance(body[number], ast.Try | ast.TryStar)
        for body, number in path_to(place.scope.function, place.statement)
    )


def _is_elif(place: Place, node: ast.If) -> bool:
    return source_of(place.text, node).startswith("elif")

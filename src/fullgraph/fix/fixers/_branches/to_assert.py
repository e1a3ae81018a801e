"""A check as an operator in the graph: `torch._assert_async` or `torch._check`."""

from __future__ import annotations

import ast

from fullgraph.fix.fixers._branches.branch import TensorBranch, is_check
from fullgraph.fix.fixers._branches.predicate import (
    TensorPredicate,
    opposite,
    require_tensor_test,
    strip_not,
    tensor_predicate,
)
from fullgraph.fix.source.codegen import (
    call_lines,
    indented,
    one_line,
    replace_statements,
    room_at,
    statement_lines,
)
from fullgraph.fix.source.control_flow import path_to
from fullgraph.fix.source.declined import Declined
from fullgraph.fix.source.edits import INDENT, Edit
from fullgraph.fix.source.inference.function import FunctionInference
from fullgraph.fix.source.text import last_line, lines_inside_strings, source_of

_IS_COMPILING = "torch.compiler.is_compiling()"
# Stands for the values in a message.
_VALUE = "..."
# Exceptions that callers handle as a part of the normal control flow.
_SIGNALS = ("StopIteration", "StopAsyncIteration", "GeneratorExit", "KeyboardInterrupt")


def assert_rewrite(branch: TensorBranch) -> Edit | None:
    """Return the edit that makes a check an operator in compiled code; None if it is no check.

    In eager mode the check stays. Declined is raised for a check that must not change.
    """
    node = branch.node
    if isinstance(node, ast.If) and isinstance(node.body[-1], ast.Raise) and node.orelse:
        raise Declined("the check has an `else` or `elif`", node.orelse[0])
    if not is_check(node) or not isinstance(node, ast.If | ast.Assert):
        return None
    _require_replaceable(branch, node)
    message = _message(node)
    if not message.replace(_VALUE, ""):
        message = f"a check in {branch.scope.function.name} failed"
    rewrite = _symbol_check if branch.is_symbol else _tensor_check
    # `python -O` removes assertions, from compiled code as well.
    condition = _IS_COMPILING if isinstance(node, ast.If) else f"__debug__ and {_IS_COMPILING}"
    lines = [f"if {condition}{_type_test(branch)}:", *indented(rewrite(branch, message))]
    original = statement_lines(branch.text, [node])
    if isinstance(node, ast.Assert):
        lines += ["else:", *indented(original)]
    else:
        lines += [f"el{original[0]}", *original[1:]]
    return replace_statements(branch.text, [node], lines)


# The check.


def _require_replaceable(branch: TensorBranch, node: ast.If | ast.Assert) -> None:
    """Decline a check whose exception is handled, or that cannot be written differently."""
    for body, number in path_to(branch.scope.function, branch.statement):
        if isinstance(body[number], ast.Try | ast.TryStar):
            raise Declined("the check is inside `try`, which may handle its exception", node)
    if source_of(branch.text, node).startswith("elif"):
        raise Declined("the check is an `elif`", node)
    # The rewrite changes the indentation of the check.
    if lines_inside_strings(branch.text) & set(range(node.lineno, last_line(node) + 1)):
        raise Declined("the check has a string that spans several lines", node)


def _message(node: ast.If | ast.Assert) -> str:
    """Return the message of a check; Declined is raised if the check does more than raise."""
    if isinstance(node, ast.Assert):
        return _message_text(node.msg) if node.msg is not None else "AssertionError"
    *before, last = node.body
    for statement in before:
        match statement:
            # A part of the message.
            case ast.Assign(targets=[ast.Name()]):
                continue
        raise Declined("the check does more than raise an exception", statement)
    assert isinstance(last, ast.Raise)
    if last.exc is None:
        raise Declined("the check raises an exception that is being handled", last)
    exception = last.exc.func if isinstance(last.exc, ast.Call) else last.exc
    name = ast.unparse(exception)
    if name in _SIGNALS:
        raise Declined(f"callers may handle `{name}`", last)
    if not name.replace(".", "").isidentifier():
        raise Declined("the class of the exception is not known", last)
    arguments = last.exc.args if isinstance(last.exc, ast.Call) else []
    return _message_text(arguments[0]) if arguments else name


def _message_text(node: ast.expr) -> str:
    """Return the text of a message, with dots for the values in it."""
    match node:
        case ast.Constant(value=value):
            return str(value)
        case ast.JoinedStr(values=values):
            return "".join(_message_text(value) for value in values)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _message_text(left) + _message_text(right)
        case ast.BinOp(left=left, op=ast.Mod()):
            return _message_text(left)
        case ast.Call(func=ast.Attribute(value=value, attr="format")):
            return _message_text(value)
    return _VALUE


def _literal(message: str) -> str:
    """Return a message as a string literal, in double quotes where possible."""
    written = repr(message)
    is_plain = written == f"'{message}'" and '"' not in message
    return f'"{message}"' if is_plain else written


# The operator.


def _tensor_check(branch: TensorBranch, message: str) -> list[str]:
    """Return the check of a tensor with `torch._assert_async`."""
    inference = FunctionInference(branch.scope, branch.statement)
    predicate = tensor_predicate(branch, inference, zero_dim=False)
    if not _type_test(branch):
        require_tensor_test(branch, inference)
    levels = 2 if predicate.python_test else 1
    room = room_at(branch.text, branch.statement) - levels * len(INDENT)
    arguments = [_asserted_tensor(branch, predicate), _literal(message)]
    lines = call_lines("", "torch._assert_async", arguments, room)
    return [f"if {predicate.python_test}:", *indented(lines)] if levels == 2 else lines


def _asserted_tensor(branch: TensorBranch, predicate: TensorPredicate) -> str:
    """Return the tensor that must be true."""
    asserts_test = isinstance(branch.node, ast.Assert)
    is_opposite = predicate.negated is asserts_test
    return opposite(predicate.tensor) if is_opposite else predicate.tensor


def _type_test(branch: TensorBranch) -> str:
    """Return a test for tensors, if the check is of an argument that may be a Python value.

    The result is empty if no such test is needed.
    """
    test, _ = strip_not(branch.node.test)
    operands = [test.left, *test.comparators] if isinstance(test, ast.Compare) else [test]
    names = [each.id for each in operands if isinstance(each, ast.Name)]
    arguments = [name for name in names if name in branch.scope.arguments]
    if branch.is_symbol or not arguments or len(names) != len(operands):
        return ""
    return f" and isinstance({arguments[0]}, torch.Tensor)"


def _symbol_check(branch: TensorBranch, message: str) -> list[str]:
    """Return the check of a number read from a tensor, an unbacked symbol, with `torch._check`."""
    asserts_test = isinstance(branch.node, ast.Assert)
    test = branch.node.test
    # `assert a and b` and `if a or b: raise` are two checks each.
    splits_at = ast.And if asserts_test else ast.Or
    is_split = isinstance(test, ast.BoolOp) and isinstance(test.op, splits_at)
    parts = test.values if isinstance(test, ast.BoolOp) and is_split else [test]
    room = room_at(branch.text, branch.statement) - len(INDENT)
    lines: list[str] = []
    for part in parts:
        inner, is_same = strip_not(part)
        written = one_line(branch.text, inner)
        checked = written if is_same is asserts_test else f"torch.sym_not({written})"
        lines += call_lines("", "torch._check", [checked, f"lambda: {_literal(message)}"], room)
    return lines

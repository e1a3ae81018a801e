"""Statements and expressions that may move into a function which `torch.cond` calls.

They may assign names to results of known functions, and nothing else: `torch.cond` traces both
branches, so there must be no side effects, no random numbers and no mutation.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

from fullgraph.fix.fixers._branches.side import not_an_assignment
from fullgraph.fix.source import torch_ops
from fullgraph.fix.source.declined import Declined, quoted
from fullgraph.fix.source.inference.scope import Scope, self_attribute
from fullgraph.fix.source.names import names_in, qualified_name

_STATEMENTS = (ast.Assign, ast.AnnAssign, ast.Pass)
_BUILTINS = ("len", "int", "float", "range", "tuple", "list", "min", "max", "isinstance", "getattr")
_KEYWORDS = ("out", "generator", "inplace")
# Expressions with a scope, a suspension or a binding of their own.
_NOT_MOVABLE = (
    ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr, ast.Lambda, ast.ListComp, ast.SetComp,
    ast.DictComp, ast.GeneratorExp,
)  # fmt: skip


def require_movable(
    scope: Scope, statements: Sequence[ast.stmt], results: Iterable[ast.expr] = ()
) -> None:
    """Decline statements and expressions that may not move into a function of their own."""
    for statement in statements:
        if not isinstance(statement, _STATEMENTS):
            raise not_an_assignment(statement)
    for moved in (*statements, *results):
        for node in ast.walk(moved):
            reason = _reason_to_stay(scope, node)
            if reason:
                raise Declined(reason, node if hasattr(node, "end_lineno") else None)


def _reason_to_stay(scope: Scope, node: ast.AST) -> str:
    """Return why a node may not move; empty if it may."""
    match node:
        case (
            ast.Attribute(ctx=ast.Store() | ast.Del()) | ast.Subscript(ctx=ast.Store() | ast.Del())
        ):
            return f"a branch assigns to {quoted(node)}"
        case ast.Attribute(attr=name) if name in torch_ops.OTHER_TENSOR_ATTRIBUTES:
            return f"{quoted(node)} may share memory with another tensor"
        case ast.Constant(value=str() as value) if "\n" in value:
            return "a branch has a string that spans several lines"
        case ast.Call():
            return _reason_not_to_call(scope, node)
    if isinstance(node, _NOT_MOVABLE):
        return f"{quoted(node)} cannot move into another function"
    return ""


def _reason_not_to_call(scope: Scope, node: ast.Call) -> str:
    """Return why a call may not move; empty if it may."""
    function = quoted(node.func)
    for keyword in node.keywords:
        if keyword.arg in _KEYWORDS:
            return f"{function} has the argument `{keyword.arg}`"
    if scope.module(self_attribute(node.func)):
        return ""
    is_unknown = f"{function} is not known to be free of side effects and random numbers"
    qualified = qualified_name(node.func, scope.imports)
    if qualified.startswith("torch."):
        reason = _reason_against_operator(qualified.rpartition(".")[2], function)
        return reason or ("" if scope.torch_name(node.func) else is_unknown)
    match node.func:
        case ast.Name(id=builtin) if builtin in _BUILTINS:
            return ""
        case ast.Attribute(value=value, attr=method) if not _may_be_a_module(value, scope):
            return _reason_against_operator(method, function)
    return is_unknown


def _reason_against_operator(name: str, function: str) -> str:
    """Return why an operator of torch may not move; empty if it may."""
    if name in torch_ops.READ_VALUES:
        return f"{function} reads a value from a tensor"
    if name in torch_ops.AUTOGRAD_EFFECTS:
        return f"{function} has side effects"
    if name in torch_ops.RANDOM:
        return f"{function} draws random numbers, for which torch.cond has wrong gradients"
    if torch_ops.is_in_place(name):
        return f"{function} mutates a tensor"
    return ""


def _may_be_a_module(value: ast.expr, scope: Scope) -> bool:
    """Return whether a node is `self`, an import, or an attribute of self that may be a module."""
    if isinstance(value, ast.Name):
        return value.id in ("self", "cls") or value.id in scope.imports
    name = self_attribute(value)
    return bool(name) and name not in scope.buffers and name not in scope.parameters


def assigned_names(statements: Sequence[ast.stmt]) -> list[str]:
    """Return the names that statements assign, in order."""
    names = [sorted(targets) for _, targets in _assignments(statements)]
    return list(dict.fromkeys(name for targets in names for name in targets))


def read_before_assigned(statements: Sequence[ast.stmt], results: Sequence[ast.expr]) -> set[str]:
    """Return the names that a function of these statements reads before it assigns them.

    They have to be arguments of the function, because Python takes them for local variables.
    """
    assigned: set[str] = set()
    read: set[str] = set()
    for value, targets in _assignments(statements):
        read |= names_in(value) - assigned
        assigned |= targets
    for result in results:
        read |= names_in(result) - assigned
    return read & assigned


def _assignments(statements: Sequence[ast.stmt]) -> Iterator[tuple[ast.expr, set[str]]]:
    """Yield the value and the names of each assignment."""
    for statement in statements:
        match statement:
            case ast.Assign(targets=targets, value=value):
                yield value, {name for target in targets for name in names_in(target)}
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                yield value, names_in(target)

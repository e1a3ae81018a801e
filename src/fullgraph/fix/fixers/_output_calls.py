"""Statements that only say something: print, log, warn. What they are, and whether they can go."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping

from fullgraph.fix.purity.static import impurities
from fullgraph.fix.source.edits import function_at, statements_at
from fullgraph.fix.source.module_symbols import Definitions
from fullgraph.fix.source.names import dotted
from fullgraph.fix.source.trees import bound_in, root_of

_LEVELS = ("debug", "info", "warning", "warn", "error", "critical", "fatal", "exception")
# `logger`, `self._logger`, `LOG`, `logging`; not `math` or `catalog`.
_LOGGER = re.compile(r"(^|_)log(ger|ging)?$", re.IGNORECASE)
_SCOPES = ast.FunctionDef | ast.Lambda | ast.ClassDef
_FUNCTIONS = (
    "print", "pprint.pprint", "warnings.warn", "sys.stdout.write", "sys.stderr.write",
    "sys.stdout.flush", "sys.stderr.flush",
)  # fmt: skip


def is_level(method: str) -> bool:
    """`info`, and what libraries add: `warning_once`, `info_rank_zero`."""
    return (
        method == "log" or method in _LEVELS or method.startswith(tuple(f"{x}_" for x in _LEVELS))
    )


def says(node: ast.AST, imports: Mapping[str, str]) -> str:
    """The full name of what a call says something with; empty for any other node."""
    if not isinstance(node, ast.Call):
        return ""
    name = dotted(node.func, imports)
    if name in _FUNCTIONS:
        return name
    if isinstance(node.func, ast.Attribute) and is_level(node.func.attr):
        if node.func.attr == "log" and not _starts_with_level(node):
            return ""
        owner = name.rpartition(".")[0].rpartition(".")[2] or _last_name(node.func.value)
        if _LOGGER.search(owner):
            return name or node.func.attr
    return ""


def _starts_with_level(node: ast.Call) -> bool:
    """`logger.log(logging.INFO, ...)`; a tracker of experiments has a method of that name too."""
    first = node.args[0] if node.args else None
    if isinstance(first, ast.Attribute):
        return first.attr.isupper()
    return isinstance(first, ast.Constant) and isinstance(first.value, int)


def _last_name(node: ast.expr) -> str:
    """`logger` for `self.logger` and for `get_logger()`."""
    if isinstance(node, ast.Call):
        node = node.func
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def only_says(statement: ast.stmt, tree: ast.Module, imports: Mapping[str, str]) -> bool:
    """Whether leaving a statement out changes nothing but what is printed or logged."""
    match statement:
        case ast.Expr(value=ast.Call() as call):
            if not says(call, imports) or root_of(call.func) in Definitions(tree).functions:
                return False
            parts = [*call.args, *(keyword.value for keyword in call.keywords)]
            return all(is_dispensable(part, tree) for part in parts)
        case ast.If(test=test, body=body, orelse=[]):
            return is_dispensable(test, tree) and all(
                only_says(each, tree, imports) for each in body
            )
    return False


def serves_messages(
    statement: ast.stmt, tree: ast.Module, imports: Mapping[str, str]
) -> list[ast.stmt] | None:
    """For a name that is bound only to be shown, as when a time is taken: its statement, and all
    that use it. None where it is used for anything else.
    """
    function = function_at(tree, statement.lineno)
    if function is None:
        return None
    found: list[ast.stmt] = []
    waiting = [statement]
    while waiting:
        each = waiting.pop()
        if any(each is known for known in found):
            continue
        found.append(each)
        if only_says(each, tree, imports):
            continue
        users = _users(each, function, tree, imports)
        if users is None:
            return None
        waiting += users
    return found


def _users(
    statement: ast.stmt, function: ast.FunctionDef, tree: ast.Module, imports: Mapping[str, str]
) -> list[ast.stmt] | None:
    """The statements that use the name which a statement binds."""
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            if not is_dispensable(value, tree):
                return None
        case _:
            return None
    uses = [node for node in ast.walk(function) if isinstance(node, ast.Name) and node.id == name]
    stores = [node for node in uses if not isinstance(node.ctx, ast.Load)]
    declared = [n for n in ast.walk(function) if isinstance(n, ast.Global | ast.Nonlocal)]
    if len(stores) != 1 or declared:
        return None
    users: list[ast.stmt] = []
    for use in uses:
        around = statements_at(function, use.lineno)
        inner = [each for each in ast.walk(function) if isinstance(each, _SCOPES)][1:]
        if any(any(node is use for node in ast.walk(each)) for each in inner):
            return None
        if use not in stores:
            talking = [each for each in around if only_says(each, tree, imports)]
            users.append(talking[-1] if talking else around[0])
    return users


def is_dispensable(expression: ast.expr, tree: ast.Module) -> bool:
    """Whether nobody notices that an expression is not evaluated: no effect, no exception."""
    for node in ast.walk(expression):
        if isinstance(node, ast.NamedExpr | ast.Await | ast.Yield | ast.YieldFrom):
            return False
        if isinstance(node, ast.Subscript) and not _is_safe_index(node):
            return False
        if isinstance(node, ast.BinOp) and not _is_safe_operation(node):
            return False
    around = function_at(tree, expression.lineno)
    local = (
        set()
        if around is None
        else {a.arg for a in ast.walk(around.args) if isinstance(a, ast.arg)}
    )
    if around is not None:
        local |= bound_in(around)
    return all(
        found.kind == "global" or "clock" in found.what
        for found in impurities(tree, expression, local)
    )


def _is_safe_index(node: ast.Subscript) -> bool:
    if isinstance(node.value, ast.Attribute) and node.value.attr == "shape":
        return True
    if isinstance(node.slice, ast.Slice):
        return True
    index = node.slice.operand if isinstance(node.slice, ast.UnaryOp) else node.slice
    return isinstance(index, ast.Constant) and isinstance(index.value, int)


def _is_safe_operation(node: ast.BinOp) -> bool:
    """No division by what may be zero; `%` after a string is formatting."""
    if not isinstance(node.op, ast.Div | ast.FloorDiv | ast.Mod):
        return True
    if isinstance(node.left, ast.Constant) and isinstance(node.left.value, str):
        return True
    return isinstance(node.right, ast.Constant) and bool(node.right.value)

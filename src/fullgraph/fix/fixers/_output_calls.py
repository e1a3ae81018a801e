"""Detect statements whose only effect is output and decide whether they can be removed.

Output is what `print`, loggers and warnings write. A statement can be removed if evaluating its
arguments has no side effect and raises no exception.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

from fullgraph.fix.purity.findings import Finding
from fullgraph.fix.purity.static import impurities, static_findings
from fullgraph.fix.source.context import SourceFile
from fullgraph.fix.source.declined import Declined, quoted
from fullgraph.fix.source.locate import class_at, function_at, statements_at
from fullgraph.fix.source.names import arguments_of, bound_in, qualified_name, root_of

_LEVELS = ("debug", "info", "warning", "warn", "error", "critical", "fatal", "exception")
# `logger`, `self._logger`, `LOG`, `logging`; not `math` or `catalog`.
_LOGGER = re.compile(r"(^|_)log(ger|ging)?$", re.IGNORECASE)
_SCOPES = ast.FunctionDef | ast.Lambda | ast.ClassDef
_FUNCTIONS = (
    "print", "pprint.pprint", "warnings.warn", "sys.stdout.write", "sys.stderr.write",
    "sys.stdout.flush", "sys.stderr.flush",
)  # fmt: skip


def is_log_method(method: str) -> bool:
    """Return whether a logger's method writes a record: `info`, or a library's `warning_once`."""
    return (
        method == "log" or method in _LEVELS or method.startswith(tuple(f"{x}_" for x in _LEVELS))
    )


def output_function(node: ast.AST, imports: Mapping[str, str]) -> str:
    """Return the full name of the output function that a node calls; empty for any other node."""
    if not isinstance(node, ast.Call):
        return ""
    name = qualified_name(node.func, imports)
    if name in _FUNCTIONS:
        return name
    if isinstance(node.func, ast.Attribute) and is_log_method(node.func.attr):
        if node.func.attr == "log" and not _has_level_argument(node):
            return ""
        owner = name.rpartition(".")[0].rpartition(".")[2] or _last_name(node.func.value)
        if _LOGGER.search(owner):
            return name or node.func.attr
    return ""


def _has_level_argument(node: ast.Call) -> bool:
    """Return whether a call is like `logger.log(logging.INFO, ...)`.

    Experiment trackers have a method `log` too; its first argument is not a level.
    """
    first = node.args[0] if node.args else None
    if isinstance(first, ast.Attribute):
        return first.attr.isupper()
    return isinstance(first, ast.Constant) and isinstance(first.value, int)


def _last_name(node: ast.expr) -> str:
    """Return `logger` for `self.logger` and for `get_logger()`; empty for other expressions."""
    if isinstance(node, ast.Call):
        node = node.func
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def is_output(statement: ast.stmt, file: SourceFile) -> bool:
    """Return whether a statement calls an output function, or is an `if` around such calls."""
    match statement:
        case ast.Expr(value=ast.Call() as call):
            # A function of the file may have the name of an output function.
            is_shadowed = root_of(call.func) in file.symbols.functions
            return bool(output_function(call, file.imports)) and not is_shadowed
        case ast.If(body=body, orelse=[]):
            return all(is_output(each, file) for each in body)
    return False


def require_removable_output(statement: ast.stmt, file: SourceFile) -> None:
    """Decline an output statement whose arguments or condition must still be evaluated."""
    match statement:
        case ast.Expr(value=ast.Call() as call):
            for part in (*call.args, *(keyword.value for keyword in call.keywords)):
                require_removable(part, file)
        case ast.If(test=test, body=body):
            require_removable(test, file)
            for each in body:
                require_removable_output(each, file)


def only_outputs(statement: ast.stmt, file: SourceFile) -> bool:
    """Return whether removing a statement changes nothing but the output."""
    if not is_output(statement, file):
        return False
    try:
        require_removable_output(statement, file)
    except Declined:
        return False
    return True


def require_removable(expression: ast.expr, file: SourceFile) -> None:
    """Decline an expression whose evaluation may have a side effect or raise an exception."""
    for node in ast.walk(expression):
        if isinstance(node, ast.NamedExpr | ast.Await | ast.Yield | ast.YieldFrom):
            raise Declined(f"{quoted(node)} has a side effect", node)
        if isinstance(node, ast.Call) and qualified_name(node.func, file.imports) == "next":
            raise Declined(f"{quoted(node)} advances an iterator", node)
        if isinstance(node, ast.Subscript) and not _is_safe_index(node):
            raise Declined(f"{quoted(node)} may raise an exception", node)
        if isinstance(node, ast.BinOp) and not _is_safe_operation(node):
            raise Declined(f"{quoted(node)} may raise an exception", node)
    if not all(map(_is_harmless, _findings_in(expression, file))):
        raise Declined(f"{quoted(expression)} may have a side effect", expression)


def _findings_in(expression: ast.expr, file: SourceFile) -> Iterator[Finding]:
    """Yield what makes an expression impure, including the methods of `self` that it calls."""
    function = function_at(file.tree, expression.lineno)
    local: set[str] = set()
    if function is not None:
        local = {each.arg for each in arguments_of(function)} | bound_in(function)
    yield from impurities(file.tree, expression, local)
    owner = class_at(file.tree, expression.lineno)
    for node in ast.walk(expression):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id="self"), attr=method)):
                yield from static_findings(file.tree, f"{owner}.{method}") or ()


def _is_harmless(finding: Finding) -> bool:
    """Return whether an impurity has no side effect: reading a global or the clock."""
    return finding.kind == "global" or "clock" in finding.what


def _is_safe_index(node: ast.Subscript) -> bool:
    if isinstance(node.value, ast.Attribute) and node.value.attr == "shape":
        return True
    if isinstance(node.slice, ast.Slice):
        return True
    index = node.slice.operand if isinstance(node.slice, ast.UnaryOp) else node.slice
    return isinstance(index, ast.Constant) and isinstance(index.value, int)


def _is_safe_operation(node: ast.BinOp) -> bool:
    """Return whether an operation cannot divide by zero; `%` after a string is formatting."""
    if not isinstance(node.op, ast.Div | ast.FloorDiv | ast.Mod):
        return True
    if isinstance(node.left, ast.Constant) and isinstance(node.left.value, str):
        return True
    return isinstance(node.right, ast.Constant) and bool(node.right.value)


def statements_for_output(statement: ast.stmt, file: SourceFile) -> list[ast.stmt] | None:
    """Return an assignment and the statements that use its name, if all of them are for output.

    None if the name is not used for output, and Declined if it is used for anything else as well.
    """
    function = function_at(file.tree, statement.lineno)
    if function is None:
        return None
    group: list[ast.stmt] = []
    waiting = [statement]
    while waiting:
        current = waiting.pop()
        if not any(current is known for known in group):
            group.append(current)
            waiting += _users_of(current, function, file)
    if not any(is_output(each, file) for each in group):
        return None
    for each in group:
        if is_output(each, file):
            require_removable_output(each, file)
        else:
            _require_for_output(each, function, file)
    return group


def _users_of(statement: ast.stmt, function: ast.FunctionDef, file: SourceFile) -> list[ast.stmt]:
    """Return the statements that read the name which a statement assigns; of output, the whole."""
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)]):
            pass
        case _:
            return []
    users: list[ast.stmt] = []
    for node in _uses_of(name, function):
        if isinstance(node.ctx, ast.Load):
            around = statements_at(function, node.lineno)
            output = [each for each in around if only_outputs(each, file)]
            users.append(output[-1] if output else around[0])
    return users


def _uses_of(name: str, function: ast.FunctionDef) -> list[ast.Name]:
    return [each for each in ast.walk(function) if isinstance(each, ast.Name) and each.id == name]


def _require_for_output(statement: ast.stmt, function: ast.FunctionDef, file: SourceFile) -> None:
    """Decline anything but the only assignment to a local name, of a removable value."""
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            require_removable(value, file)
        case _:
            raise Declined("a value that is printed or logged has another use", statement)
    uses = _uses_of(name, function)
    if sum(not isinstance(each.ctx, ast.Load) for each in uses) != 1:
        raise Declined(f"`{name}` is assigned more than once", statement)
    inner = [each for each in ast.walk(function) if isinstance(each, _SCOPES)][1:]
    if any(node is use for each in inner for node in ast.walk(each) for use in uses):
        raise Declined(f"an inner function uses `{name}`", statement)
    if any(isinstance(each, ast.Global | ast.Nonlocal) for each in ast.walk(function)):
        raise Declined("the function declares global names", statement)

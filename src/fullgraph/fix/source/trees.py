"""Small questions about syntax trees."""

from __future__ import annotations

import ast
from collections.abc import Iterator

Function = ast.FunctionDef | ast.Lambda


def arguments_of(node: Function) -> list[ast.arg]:
    each = node.args
    extra = [one for one in (each.vararg, each.kwarg) if one is not None]
    return [*each.posonlyargs, *each.args, *each.kwonlyargs, *extra]


def code_of(node: Function) -> Iterator[ast.AST]:
    """Everything in its body, nested functions included; not its decorators and annotations."""
    body = node.body if isinstance(node.body, list) else [node.body]
    for statement in body:
        for each in ast.walk(statement):
            if not isinstance(each, ast.arg):
                yield each


def bound_in(node: Function) -> set[str]:
    found: set[str] = set()
    for each in code_of(node):
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store | ast.Del):
            found.add(each.id)
        elif isinstance(each, ast.FunctionDef | ast.Lambda):
            found |= {argument.arg for argument in arguments_of(each)}
            if isinstance(each, ast.FunctionDef):
                found.add(each.name)
        elif isinstance(each, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and each.name:
            found.add(each.name)
        elif isinstance(each, ast.MatchMapping) and each.rest:
            found.add(each.rest)
        elif isinstance(each, ast.ClassDef | ast.AsyncFunctionDef):
            found.add(each.name)
        elif isinstance(each, ast.Import | ast.ImportFrom):
            found |= {name.asname or name.name.partition(".")[0] for name in each.names}
    return found - _globals_of(node)


def _globals_of(node: Function) -> set[str]:
    return {name for each in code_of(node) if isinstance(each, ast.Global) for name in each.names}


def targets_of(node: ast.AST) -> list[ast.expr]:
    if isinstance(node, ast.Assign | ast.Delete):
        return node.targets
    return [node.target] if isinstance(node, ast.AnnAssign | ast.For) else []


def root_of(node: ast.AST) -> str:
    """The name that a chain of attributes, subscripts and calls starts from."""
    while True:
        match node:
            case ast.Attribute(value=value) | ast.Subscript(value=value):
                node = value
            case ast.Call(func=func):
                node = func
            case ast.Name(id=name):
                return name
            case _:
                return ""


def all_in(node: ast.expr, names: set[str]) -> bool:
    roots = [each.id for each in ast.walk(node) if isinstance(each, ast.Name)]
    return bool(roots) and all(root in names for root in roots)


def is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def is_false(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is False

"""Names in a syntax tree: what they refer to, where they are bound, and which are unused."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from fullgraph.python_source import imports_of as imports_of

Function = ast.FunctionDef | ast.Lambda


def qualified_name(node: ast.AST, imports: Mapping[str, str]) -> str:
    """Return `torch.backends.cudnn.flags` for `cudnn.flags`; empty if a part is not a name."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return ""
    return ".".join([imports.get(node.id, node.id), *reversed(parts)])


def root_of(node: ast.AST) -> str:
    """Return the name that a chain of attributes, subscripts and calls starts with.

    Empty if the chain does not start with a name.
    """
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


def names_in(node: ast.AST) -> set[str]:
    """Return all names in a tree, whether they are read or bound."""
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}


def all_in(node: ast.expr, names: set[str]) -> bool:
    """Check whether an expression has names, and all of them are in a set."""
    found = names_in(node)
    return bool(found) and found <= names


def stored_names(node: ast.AST) -> set[str]:
    """Return the names that are bound or deleted anywhere in a tree."""
    return {
        each.id
        for each in ast.walk(node)
        if isinstance(each, ast.Name) and not isinstance(each.ctx, ast.Load)
    }


def targets_of(node: ast.AST) -> list[ast.expr]:
    """Return the targets of an assignment, a deletion or a loop; empty for other nodes."""
    if isinstance(node, ast.Assign | ast.Delete):
        return node.targets
    return [node.target] if isinstance(node, ast.AnnAssign | ast.For) else []


def arguments_of(node: Function) -> list[ast.arg]:
    """Return all arguments of a function, `*args` and `**kwargs` included."""
    arguments = node.args
    extra = [each for each in (arguments.vararg, arguments.kwarg) if each is not None]
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *extra]


def code_of(node: Function) -> Iterator[ast.AST]:
    """Yield the nodes of a function's body, nested functions included.

    Decorators, defaults and annotations of arguments are not part of the body.
    """
    body = node.body if isinstance(node.body, list) else [node.body]
    for statement in body:
        for each in ast.walk(statement):
            if not isinstance(each, ast.arg):
                yield each


def bound_in(node: Function) -> set[str]:
    """Return the names that a function's body binds, without its own arguments and globals."""
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


def fresh_name(wanted: str, tree: ast.AST) -> str:
    """Return the wanted name, with underscores appended until nothing in the tree uses it."""
    used = names_in(tree) | {each.arg for each in ast.walk(tree) if isinstance(each, ast.arg)}
    used |= {each.name for each in ast.walk(tree) if isinstance(each, ast.FunctionDef)}
    used |= set(imports_of(tree))
    name = wanted
    while name in used:
        name = f"{name}_"
    return name


def is_name_chain(node: ast.expr) -> bool:
    """Return whether a node is `a` or `a.b.c`, which can be evaluated twice."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


def is_none(node: ast.expr) -> bool:
    """Check whether an expression is the constant None."""
    return isinstance(node, ast.Constant) and node.value is None


def is_false(node: ast.expr) -> bool:
    """Check whether an expression is the constant False."""
    return isinstance(node, ast.Constant) and node.value is False

"""Functions, classes, imports and constants that a module defines at its top level."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fullgraph.fix.source.names import imports_of


class ModuleSymbols:
    """The functions of a module by qualified name, its classes, imports and constants."""

    def __init__(self, tree: ast.Module) -> None:
        self.imports = imports_of(tree)
        self.functions: dict[str, ast.FunctionDef] = {}
        self.classes: set[str] = set()
        self._add(tree, "")
        self.bound_once = _bound_once(tree)
        # The names among them whose value is immutable.
        self.constants = {name for name, value in self.bound_once.items() if _is_immutable(value)}

    def _add(self, node: ast.AST, prefix: str) -> None:
        for each in ast.iter_child_nodes(node):
            if isinstance(each, ast.FunctionDef):
                self.functions[f"{prefix}{each.name}"] = each
            elif isinstance(each, ast.ClassDef):
                self.classes.add(f"{prefix}{each.name}")
                self._add(each, f"{prefix}{each.name}.")
            elif isinstance(each, ast.If | ast.Try | ast.With):
                self._add(each, prefix)


def _bound_once(tree: ast.Module) -> dict[str, ast.expr]:
    """Return the globals that exactly one statement at the top level binds, and their values."""
    bound: dict[str, list[ast.expr | None]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Global):
            for name in node.names:
                bound.setdefault(name, []).append(None)
    for statement in tree.body:
        for name, value in _bindings(statement):
            bound.setdefault(name, []).append(value)
    single = {name: values[0] for name, values in bound.items() if len(values) == 1}
    return {name: value for name, value in single.items() if value is not None}


def _bindings(statement: ast.stmt) -> Iterator[tuple[str, ast.expr | None]]:
    """Yield the names that a statement binds; None for a value that is not an expression."""
    if isinstance(statement, ast.Assign):
        for target in statement.targets:
            if isinstance(target, ast.Name):
                yield target.id, statement.value
                continue
            for each in ast.walk(target):
                if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
                    yield each.id, None
    elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
        yield statement.target.id, statement.value
    elif not isinstance(statement, ast.FunctionDef | ast.ClassDef):
        for each in ast.walk(statement):
            if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
                yield each.id, None


def _is_immutable(value: ast.expr) -> bool:
    """Check whether an expression consists of constants, tuples and operators."""
    match value:
        case ast.Constant():
            return True
        case ast.Tuple():
            return all(_is_immutable(each) for each in value.elts)
        case ast.UnaryOp():
            return _is_immutable(value.operand)
        case ast.BinOp():
            return _is_immutable(value.left) and _is_immutable(value.right)
    return False

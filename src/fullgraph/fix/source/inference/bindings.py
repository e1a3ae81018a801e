"""All values that a function binds to its names, regardless of the order of its statements."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fullgraph.fix.source.names import arguments_of

_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_NAMED = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.ExceptHandler | ast.MatchAs


class Bindings:
    """The names of a function and the expressions that are bound to them.

    A value is None if no expression of the function is that value, as for `with open() as f`. The
    values that callers pass for arguments are not listed.
    """

    def __init__(self, function: ast.FunctionDef) -> None:
        self.arguments = frozenset(argument.arg for argument in arguments_of(function))
        self._values: dict[str, list[ast.expr | None]] = {}
        # Names that a known kind of statement binds.
        self._read: set[ast.AST] = set()
        for node in _inside(function):
            self._read_statement(node)
        for node in _inside(function):
            for name in self._bound_to_unknown(node):
                self._add(name, None)

    def names(self) -> frozenset[str]:
        """Return the names that the function binds, and its arguments."""
        return self.arguments | frozenset(self._values)

    def values(self, name: str) -> list[ast.expr | None]:
        """Return what the function binds to a name; None stands for an unknown value."""
        return self._values.get(name, [])

    def _add(self, name: str, value: ast.expr | None) -> None:
        self._values.setdefault(name, []).append(value)

    def _read_statement(self, node: ast.AST) -> None:
        match node:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    self._bind(target, value)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self._bind(target, value)
            case ast.NamedExpr(target=target, value=value):
                self._bind(target, value)
            case ast.AugAssign(target=ast.Name(id=name) as target, op=op, value=value):
                self._bind(target, ast.BinOp(ast.Name(name, ast.Load()), op, value))
            case (
                ast.For(target=target, iter=values) | ast.comprehension(target=target, iter=values)
            ):
                self._bind_each(target, values)

    def _bind(self, target: ast.expr, value: ast.expr) -> None:
        match target, value:
            case ast.Name(id=name), _:
                self._read.add(target)
                self._add(name, value)
            case ((ast.Tuple(elts=targets) | ast.List(elts=targets)), ast.Tuple(elts=values)) if (
                len(targets) == len(values) and not _has_starred([*targets, *values])
            ):
                for each, part in zip(targets, values, strict=True):
                    self._bind(each, part)
            case ((ast.Tuple(elts=targets) | ast.List(elts=targets)), _):
                for each in targets:
                    self._bind(each, _element_of(value))

    def _bind_each(self, target: ast.expr, values: ast.expr) -> None:
        """Bind the target of a loop to the elements of what it loops over."""
        match target, values:
            case ast.Tuple(elts=[_, each]), ast.Call(func=ast.Name(id="enumerate"), args=[inner]):
                self._bind_each(each, inner)
            case ast.Tuple(elts=targets), ast.Call(func=ast.Name(id="zip"), args=inner) if len(
                targets
            ) == len(inner) and not _has_starred([*targets, *inner]):
                for each, part in zip(targets, inner, strict=True):
                    self._bind_each(each, part)
            case _:
                self._bind(target, _element_of(values))

    def _bound_to_unknown(self, node: ast.AST) -> Iterator[str]:
        """Yield the names that a node binds to a value that is not an expression."""
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()) if node not in self._read:
                yield name
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                yield from names
            case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
                yield from (each.asname or each.name.partition(".")[0] for each in aliases)
            case ast.MatchMapping(rest=str() as name) | ast.MatchStar(name=str() as name):
                yield name
            case ast.arg(arg=name):
                yield name
        if isinstance(node, _NAMED) and node.name:
            yield node.name


def _inside(function: ast.FunctionDef) -> Iterator[ast.AST]:
    """Yield the nodes of a function's body, with the arguments of nested functions."""
    for statement in function.body:
        yield from ast.walk(statement)


def _element_of(values: ast.expr) -> ast.expr:
    return ast.Subscript(values, ast.Constant(0), ast.Load())


def _has_starred(nodes: list[ast.expr]) -> bool:
    return any(isinstance(node, ast.Starred) for node in nodes)

"""Whether statements may become a function that `torch.cond` calls."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fullgraph.fix.source import torch_ops as operations
from fullgraph.fix.source.inference.scope import Scope, self_attribute
from fullgraph.fix.source.names import dotted

_STATEMENTS = (ast.Assign, ast.AnnAssign, ast.Pass)
_BUILTINS = ("len", "int", "float", "range", "tuple", "list", "min", "max", "isinstance", "getattr")
# Another type, no gradient, or a tensor that somebody else may write to.
_OTHER_TENSORS = ("real", "imag", "data", "grad")
_NOT_FOR_A_FUNCTION = (
    ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr, ast.Lambda, ast.ListComp, ast.SetComp,
    ast.DictComp, ast.GeneratorExp,
)  # fmt: skip


def may_be_moved(scope: Scope, statements: list[ast.stmt]) -> bool:
    """Nothing but names bound to results of what is known: no effects, nothing random."""
    return all(isinstance(each, _STATEMENTS) for each in statements) and all(
        _is_known(scope, node) for each in statements for node in ast.walk(each)
    )


def may_be_computed(scope: Scope, *expressions: ast.expr) -> bool:
    return all(_is_known(scope, node) for each in expressions for node in ast.walk(each))


def _is_known(scope: Scope, node: ast.AST) -> bool:
    if isinstance(node, _NOT_FOR_A_FUNCTION):
        return False
    if isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load):
        return False
    if isinstance(node, ast.Attribute) and node.attr in _OTHER_TENSORS:
        return False
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return "\n" not in node.value
    return not isinstance(node, ast.Call) or _is_known_call(scope, node)


def _is_known_call(scope: Scope, node: ast.Call) -> bool:
    if any(each.arg in ("out", "generator", "inplace") for each in node.keywords):
        return False
    if scope.module(self_attribute(node.func)):
        return True
    name = dotted(node.func, scope.imports)
    if name.startswith("torch."):
        last = name.rpartition(".")[2]
        return bool(scope.torch_name(node.func)) and is_steady(last)
    match node.func:
        case ast.Name(id=builtin):
            return builtin in _BUILTINS
        case ast.Attribute(value=value, attr=method):
            # A method of a tensor; a method of self or of a module of the program may do anything.
            return is_steady(method) and not _is_foreign(value, scope)
    return False


def is_steady(name: str) -> bool:
    """Whether an operator of this name writes nothing and draws nothing."""
    reads_out = name in ("item", "tolist", "numpy", "backward", "register_hook", "requires_grad_")
    in_place = name.endswith("_") and not name.endswith("__")
    return not reads_out and not in_place and name not in operations.RANDOM


def _is_foreign(value: ast.expr, scope: Scope) -> bool:
    """`self`, an imported module, or a part of self that is no tensor for all that is known."""
    if isinstance(value, ast.Name):
        return value.id in ("self", "cls") or value.id in scope.imports
    name = self_attribute(value)
    return bool(name) and name not in scope.buffers and name not in scope.parameters


def read_before_bound(statements: list[ast.stmt], results: list[ast.expr]) -> set[str]:
    """Names that a function of these statements would need from outside, though it binds them."""
    bound: set[str] = set()
    found: set[str] = set()
    for part in _parts(statements, results):
        if isinstance(part, ast.expr):
            found |= _loads(part) - bound
        else:
            bound |= part
    return found & bound


def _parts(statements: list[ast.stmt], results: list[ast.expr]) -> Iterator[ast.expr | set[str]]:
    for statement in statements:
        match statement:
            case ast.Assign(targets=targets, value=value):
                yield value
                yield {name for target in targets for name in _stores(target)}
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                yield value
                yield _stores(target)
    yield from results


def bound_by(statements: list[ast.stmt]) -> list[str]:
    """Names that are bound, in order."""
    found = [sorted(part) for part in _parts(statements, []) if isinstance(part, set)]
    return list(dict.fromkeys(name for names in found for name in names))


def _loads(node: ast.expr) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}


def _stores(node: ast.expr) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}

"""Whether compiled code has one path: a replay has then taken every path that any call takes."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fullgraph.analysis.user_lines.bindings import bindings_in
from fullgraph.analysis.user_lines.source_file import Function, SourceFile
from fullgraph.fix.source.names import qualified_name
from fullgraph.fix.source.torch_ops import (
    BINARY,
    BOOLEAN,
    CASTS,
    LAYOUT,
    LINEAR,
    METADATA_METHODS,
    REDUCTIONS,
    SAFE_IF_FINITE,
    UNBOUNDED_GRADIENT,
    words,
)
from fullgraph.recompiles.remedies._certain import only_binding

_BRANCHES = (
    ast.If, ast.IfExp, ast.While, ast.For, ast.AsyncFor, ast.comprehension, ast.BoolOp, ast.Assert,
    ast.Match, ast.Try, ast.TryStar, ast.Raise,
)  # fmt: skip
_MODULES = ("torch.", "math.")
_BUILTINS = words("abs float int len max min range tuple")
_METHODS = (
    LINEAR | SAFE_IF_FINITE | UNBOUNDED_GRADIENT | BINARY | BOOLEAN | REDUCTIONS | METADATA_METHODS
    | LAYOUT | CASTS
    | words("bmm cumprod cumsum div expand flatten log_softmax matmul mm pow softmax square "
            "squeeze to unsqueeze")
)  # fmt: skip


def has_branches(function: Function) -> bool:
    """Return whether a function itself decides which of its code runs."""
    return any(
        isinstance(node, _BRANCHES) or (isinstance(node, ast.Compare) and len(node.ops) > 1)
        for node in ast.walk(function)
    )


def has_one_path(file: SourceFile, function: Function) -> bool:
    """Return whether a function and what it calls never decide which code runs.

    False if it is not known what is called.
    """
    functions = functions_run(file, function)
    return functions is not None and not any(has_branches(each) for each in functions)


def functions_run(file: SourceFile, function: Function) -> list[Function] | None:
    """Return a function and those of the same file that it calls; None if it may call others."""
    found = [function]
    for current in found:
        for call in calls_in(current):
            called = _called(file, call)
            if called is None:
                return None
            found += [each for each in called if each not in found]
    return found


def calls_in(function: Function) -> Iterator[ast.Call]:
    """Yield the calls in the body of a function."""
    for statement in function.body if isinstance(function.body, list) else [function.body]:
        yield from (node for node in ast.walk(statement) if isinstance(node, ast.Call))


def _called(file: SourceFile, call: ast.Call) -> list[Function] | None:
    """Return the functions of the file that a call runs; None if it may run unknown ones."""
    function = call.func
    if isinstance(function, ast.Name):
        if _is_of_torch(file, function) or (function.id in _BUILTINS and _is_free(file, function)):
            return []
        bound = only_binding(file, function)
        if isinstance(bound, ast.FunctionDef):
            return [bound]
        return [] if bound is not None and _is_module_of_torch(file, [bound]) else None
    if not isinstance(function, ast.Attribute):
        return None
    if isinstance(function.value, ast.Name) and function.value.id == "self":
        methods = [each for each in file.functions if getattr(each, "name", "") == function.attr]
        is_known = _is_module_of_torch(file, _writes_of(file, function.attr))
        return methods or ([] if is_known else None)
    return [] if _is_of_torch(file, function) or function.attr in _METHODS else None


def calls_module_of_torch(
    file: SourceFile, call: ast.Call, names: frozenset[str] | None = None
) -> bool:
    """Return whether a call is that of a module of torch, such as `self.linear(x)`.

    With `names`, it must be of one of these classes.
    """
    function = call.func
    if isinstance(function, ast.Name):
        bound = only_binding(file, function)
        bindings = [] if bound is None else [bound]
    elif isinstance(function, ast.Attribute) and ast.unparse(function.value) == "self":
        bindings = _writes_of(file, function.attr)
    else:
        return False
    if not _is_module_of_torch(file, bindings):
        return False
    made = [each.value for each in bindings if isinstance(each, ast.Assign)]
    return names is None or all(
        isinstance(each, ast.Call) and _last_name(each.func) in names for each in made
    )


def _last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _is_free(file: SourceFile, name: ast.Name) -> bool:
    """Return whether a name is bound nowhere in the file."""
    scopes = [file.tree, *file.functions]
    return not any(bindings_in(scope, name.id) for scope in scopes)


def _is_of_torch(file: SourceFile, node: ast.expr) -> bool:
    return qualified_name(node, file.imports).startswith(_MODULES)


def _writes_of(file: SourceFile, attribute: str) -> list[ast.AST]:
    """Return the statements that write an attribute of this name."""
    return [
        file.parents[id(node)]
        for node in file.nodes
        if isinstance(node, ast.Attribute)
        and node.attr == attribute
        and isinstance(node.ctx, ast.Store)
    ]


def _is_module_of_torch(file: SourceFile, bindings: list[ast.AST]) -> bool:
    """Return whether something is only ever a module of torch, made of such modules."""
    return bool(bindings) and all(
        isinstance(each, ast.Assign)
        and isinstance(each.value, ast.Call)
        and all(_makes_module(file, node) for node in ast.walk(each.value))
        for each in bindings
    )


def _makes_module(file: SourceFile, node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        name = qualified_name(node.func, file.imports)
        is_changed = getattr(node.func, "attr", "") in ("requires_grad_", "eval", "train")
        return name.startswith("torch.nn.") or is_changed
    # A name may stand for a module of the user, so only those of torch are known.
    return not isinstance(node, ast.Name) or node.id in file.imports

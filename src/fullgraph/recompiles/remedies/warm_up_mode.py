"""Warm up in the mode of the later calls: code compiled under `no_grad` does not fit training.

The first compile is lost otherwise. The result of the warm-up needs gradients afterwards, so the
remedy is offered only if nothing uses it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fullgraph.analysis.user_lines.source_file import Function, SourceFile
from fullgraph.fix.source.edits import Edit, FileEdits
from fullgraph.fix.source.names import qualified_name
from fullgraph.fix.source.text import span
from fullgraph.model.events import Frame
from fullgraph.model.report import RecompileGroup
from fullgraph.recompiles.candidate import Candidate
from fullgraph.recompiles.context import ProgramContext
from fullgraph.recompiles.remedies._certain import only_binding
from fullgraph.recompiles.remedies._paths import functions_run, has_branches
from fullgraph.recompiles.remedies._rewrites import function_source

TITLE = "warm up in the right mode"
KIND = "source"
ORDER = 10
BOUNDED = True

_MODES = {"no_grad": "enable_grad", "inference_mode": "enable_grad", "enable_grad": "no_grad"}


def propose(group: RecompileGroup, context: ProgramContext) -> Iterator[Candidate]:
    """Yield the change of the `with` statement around the call that compiled first."""
    if group.kind not in ("grad_mode", "inference_mode") or context.first_compile_is_used(group):
        return
    first = context.first_call(group)
    compiled = function_source(group, context)
    caller = first.caller if first is not None else None
    file = context.source(caller.file) if caller and context.is_yours(caller.file) else None
    if first is None or caller is None or file is None or compiled is None:
        return
    run = functions_run(*compiled)
    is_plain = run is not None and not any(has_branches(each) or keeps(each) for each in run)
    if first.number != 1 or not is_plain:
        return
    for node in file.nodes:
        mode = _mode(node.items[0].context_expr) if isinstance(node, ast.With) else None
        if isinstance(node, ast.With) and mode is not None and warms_up(file, node, caller):
            edit = Edit(*span(file.text, mode), _replacement(mode))
            yield Candidate(
                f"warm up in the mode of the later calls: {_MODES[mode.attr]}",
                where=file.frame(node),
                files=(FileEdits(file.path, (edit,)),),
                warmed_up=first.code.qualified or first.code.function,
            )
            return


def keeps(function: Function) -> bool:
    """Return whether a function may do more than to compute what it returns."""
    body = function.body if isinstance(function.body, list) else []
    kept = (ast.Global, ast.Nonlocal, ast.With, ast.Expr, ast.Delete, ast.AugAssign)
    return any(
        isinstance(node, kept)
        or (isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store))
        for statement in body
        for node in ast.walk(statement)
        if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
    )


def warms_up(file: SourceFile, node: ast.With, call: Frame) -> bool:
    """Return whether a `with` statement only makes one call, directly, and drops its result."""
    statement = node.body[0]
    if len(node.items) != 1 or len(node.body) != 1 or not isinstance(statement, ast.Expr):
        return False
    made = statement.value
    if not isinstance(made, ast.Call) or not all(_is_input(file, each) for each in made.args):
        return False
    if made.keywords:
        return False
    if file.call_at(call) is made:
        return True
    called = only_binding(file, made.func) if isinstance(made.func, ast.Name) else None
    return (
        isinstance(called, ast.FunctionDef)
        and called.lineno <= call.line <= (called.end_lineno or called.lineno)
        and len(called.body) == 1
        and isinstance(called.body[0], ast.Return)
        and all(_is_computed(each, file.call_at(call)) for each in ast.walk(called.body[0]))
    )


def _is_input(file: SourceFile, node: ast.expr) -> bool:
    """Return whether an argument is a name, a constant, or a new tensor."""
    if not isinstance(node, ast.Call):
        return isinstance(node, ast.Name | ast.Constant)
    is_of_torch = qualified_name(node.func, file.imports).startswith("torch.")
    return is_of_torch and all(_is_input(file, each) for each in node.args)


def _is_computed(node: ast.AST, compiled: ast.Call | None) -> bool:
    """Return whether a part of an expression is the compiled call or a method without arguments."""
    if not isinstance(node, ast.Call) or node is compiled:
        return True
    return isinstance(node.func, ast.Attribute) and node.func.attr in ("mean", "sum", "square")


def _mode(node: ast.expr) -> ast.Attribute | None:
    """Return `torch.no_grad` of `torch.no_grad()`; None for anything else."""
    function = node.func if isinstance(node, ast.Call) and not node.args else None
    is_mode = isinstance(function, ast.Attribute) and function.attr in _MODES
    return function if is_mode and isinstance(function, ast.Attribute) else None


def _replacement(mode: ast.Attribute) -> str:
    return f"{ast.unparse(mode.value)}.{_MODES[mode.attr]}"

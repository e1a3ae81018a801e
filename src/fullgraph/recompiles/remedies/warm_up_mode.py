"""Warm up in the mode of the later calls: code compiled under `no_grad` does not fit training.

The first compile is lost otherwise. The results of the warm-up need gradients afterwards, which
costs nothing if they are not used.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fullgraph.fix.source.edits import Edit, FileEdits
from fullgraph.fix.source.text import span
from fullgraph.model.report import RecompileGroup
from fullgraph.recompiles.candidate import Candidate
from fullgraph.recompiles.context import ProgramContext

TITLE = "warm up in the right mode"
KIND = "source"
ORDER = 10
BOUNDED = True

_MODES = {"no_grad": "enable_grad", "inference_mode": "enable_grad", "enable_grad": "no_grad"}


def propose(group: RecompileGroup, context: ProgramContext) -> Iterator[Candidate]:
    """Yield the change of the `with` statement around the call that compiled first."""
    if group.kind not in ("grad_mode", "inference_mode") or context.first_compile_is_used(group):
        return
    for frame in context.first_call_stack(group):
        file = context.source(frame.file) if context.is_yours(frame.file) else None
        for node in ast.walk(file.tree) if file is not None else ():
            if not isinstance(node, ast.With) or not _contains(node, frame.line):
                continue
            for item in node.items:
                mode = _mode(item.context_expr)
                if file is not None and mode is not None:
                    edit = Edit(*span(file.text, mode), _replacement(mode))
                    yield Candidate(
                        f"warm up in the mode of the later calls: {_MODES[mode.attr]}",
                        where=file.frame(node),
                        files=(FileEdits(file.path, (edit,)),),
                        may_change_requires_grad=True,
                    )
                    return


def _contains(node: ast.With, line: int) -> bool:
    return node.lineno <= line <= (node.end_lineno or node.lineno)


def _mode(node: ast.expr) -> ast.Attribute | None:
    """Return `torch.no_grad` of `torch.no_grad()`; None for anything else."""
    function = node.func if isinstance(node, ast.Call) and not node.args else None
    is_mode = isinstance(function, ast.Attribute) and function.attr in _MODES
    return function if is_mode and isinstance(function, ast.Attribute) else None


def _replacement(mode: ast.Attribute) -> str:
    return f"{ast.unparse(mode.value)}.{_MODES[mode.attr]}"

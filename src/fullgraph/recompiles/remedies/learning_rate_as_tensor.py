"""Give an optimizer its learning rate as a tensor, so that a schedule does not compile again.

Dynamo guards on a learning rate that is a number. Optimizers and schedulers accept a tensor.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fullgraph.analysis.user_lines.source_file import SourceFile
from fullgraph.fix.source.edits import FileEdits, replace_node
from fullgraph.fix.source.text import source_of
from fullgraph.model.report import RecompileGroup
from fullgraph.recompiles.candidate import Candidate
from fullgraph.recompiles.context import ProgramContext

TITLE = "a learning rate as a tensor"
KIND = "source"
ORDER = 15


def propose(group: RecompileGroup, context: ProgramContext) -> Iterator[Candidate]:
    """Yield the change of the optimizers in the files that lead to a group."""
    if group.kind != "float" or "param_groups" not in group.source or "lr" not in group.source:
        return
    frames = [*context.call_frames(group), group.written_at, group.called_at]
    paths = [context.main_file, *(each.file for each in frames if each is not None)]
    for path in dict.fromkeys(paths):
        file = context.source(path) if path and context.is_yours(path) else None
        rates = list(_rates(file)) if file is not None else []
        if file is not None and rates:
            edits = tuple(
                replace_node(file.text, rate, f"torch.tensor({source_of(file.text, rate)})")
                for rate in rates
            )
            text = f"lr={edits[0].replacement}"
            files = (FileEdits(file.path, edits),)
            yield Candidate(text, where=file.frame(rates[0]), files=files)
            return


def _rates(file: SourceFile) -> Iterator[ast.expr]:
    """Yield the learning rates that are passed to optimizers of torch by name."""
    for node in ast.walk(file.tree):
        if isinstance(node, ast.Call) and "optim." in ast.unparse(node.func):
            yield from (each.value for each in node.keywords if each.arg == "lr")

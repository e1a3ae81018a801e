"""Give an optimizer its learning rate as a tensor, so that a schedule does not compile again.

Dynamo guards on a learning rate that is a number. Optimizers and schedulers accept a tensor. The
groups of an optimizer share it, so the patch is offered only if the program neither reads the rate
nor updates it in place, and no optimizer has an option that needs a number.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fullgraph.analysis.user_lines.source_file import SourceFile
from fullgraph.fix.source.edits import FileEdits, replace_node
from fullgraph.fix.source.names import qualified_name
from fullgraph.fix.source.text import source_of
from fullgraph.model.report import RecompileGroup
from fullgraph.recompiles.candidate import Candidate
from fullgraph.recompiles.context import ProgramContext

TITLE = "a learning rate as a tensor"
KIND = "source"
ORDER = 15

# With these, an optimizer refuses a tensor; `**` may hide one of them.
_NEED_NUMBER = frozenset({"foreach", "fused", None})


def propose(group: RecompileGroup, context: ProgramContext) -> Iterator[Candidate]:
    """Yield the change of the optimizers in the files that lead to a group."""
    if group.kind != "float" or "param_groups" not in group.source or "lr" not in group.source:
        return
    frames = [*context.call_frames(group), group.written_at, group.called_at]
    paths = [context.main_file, *(each.file for each in frames if each is not None)]
    for path in dict.fromkeys(paths):
        file = context.source(path) if path and context.is_yours(path) else None
        rates = list(_rates(file)) if file is not None else []
        if file is not None and rates and not _is_certain(file):
            text = f"lr=torch.tensor({source_of(file.text, rates[0])})"
            condition = "if nothing needs the rate as a number"
            yield Candidate(f"{text}, {condition}", where=file.frame(rates[0]))
            return
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
    for node in _optimizers(file):
        yield from (each.value for each in node.keywords if each.arg == "lr")


def _optimizers(file: SourceFile) -> Iterator[ast.Call]:
    for node in file.nodes:
        if isinstance(node, ast.Call):
            name = qualified_name(node.func, file.imports)
            if name.startswith("torch.optim.") and "lr_scheduler" not in name:
                yield node


def _is_certain(file: SourceFile) -> bool:
    """Return whether nothing in a file needs a number, and no tensor is updated for two groups."""
    options = {each.arg for call in _optimizers(file) for each in call.keywords}
    return options.isdisjoint(_NEED_NUMBER) and not any(_uses_rate(file, n) for n in file.nodes)


def _uses_rate(file: SourceFile, node: ast.AST) -> bool:
    match node:
        case ast.Attribute(attr="get_last_lr"):
            return True
        case ast.Subscript(slice=ast.Constant(value="lr"), ctx=context):
            is_updated = isinstance(file.parents.get(id(node)), ast.AugAssign)
            return is_updated or isinstance(context, ast.Load)
    return False

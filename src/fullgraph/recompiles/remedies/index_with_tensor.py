"""Index with a tensor of one dimension instead of a tensor without dimensions.

Dynamo turns a tensor without dimensions into a number when it is used as an index, and guards on
it. An index with one dimension stays a tensor; the added dimension is removed from the result.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fullgraph.fix.source.edits import Edit, FileEdits
from fullgraph.fix.source.text import source_of, span
from fullgraph.model.report import RecompileGroup
from fullgraph.recompiles.candidate import Candidate
from fullgraph.recompiles.context import ProgramContext

TITLE = "an index with one dimension"
KIND = "source"
ORDER = 8


def propose(group: RecompileGroup, context: ProgramContext) -> Iterator[Candidate]:
    """Yield the change of each index that is the argument itself."""
    if not any("0-d tensor" in note for note in group.notes):
        return
    file = context.source(group.file) if context.is_yours(group.file) else None
    function = file.function_of(context.code_of(group)) if file is not None else None
    if file is None or function is None:
        return
    name = group.name.removesuffix(".item()").partition(".")[0]
    nodes = [
        node
        for node in ast.walk(function)
        if isinstance(node, ast.Subscript)
        and isinstance(node.ctx, ast.Load)
        and isinstance(node.slice, ast.Name)
        and node.slice.id == name
    ]
    if not nodes:
        return
    edits = []
    for node in nodes:
        value = source_of(file.text, node.value)
        edits.append(Edit(*span(file.text, node), f"{value}[{name}.reshape(1)].squeeze(0)"))
    text = f"{source_of(file.text, nodes[0])} → {edits[0].replacement}"
    yield Candidate(text, where=file.frame(nodes[0]), files=(FileEdits(file.path, tuple(edits)),))

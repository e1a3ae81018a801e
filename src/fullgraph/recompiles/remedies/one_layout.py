"""Make an argument contiguous where it is passed, so that one layout reaches the compiled code.

A tensor that already is contiguous is not copied. The result is the same up to rounding. The patch
is offered only if the function certainly reads the tensor: a write would go to the copy.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from fullgraph.analysis.user_lines.source_file import Function, SourceFile
from fullgraph.fix.source.torch_ops import words
from fullgraph.model.report import RecompileGroup
from fullgraph.recompiles.candidate import Candidate
from fullgraph.recompiles.context import ProgramContext
from fullgraph.recompiles.remedies._operands import calls_method_of_tensors
from fullgraph.recompiles.remedies._paths import has_branches
from fullgraph.recompiles.remedies._reads import is_read, passes_to_torch
from fullgraph.recompiles.remedies._rewrites import function_source, uses_of
from fullgraph.recompiles.source_changes import passed_arguments

TITLE = ".contiguous() where the argument is passed"
KIND = "source"
ORDER = 10

# What depends on the layout of a result.
_LAYOUT = words(
    """as_strided data_ptr dlpack is_contiguous numpy storage storage_offset stride untyped_storage
    view"""
)


def propose(group: RecompileGroup, context: ProgramContext) -> Iterator[Candidate]:
    """Yield the change for an argument whose strides change."""
    if group.kind != "stride" or group.place != "argument":
        return
    passed = passed_arguments(group, context, group.source)
    found = function_source(group, context)
    if not passed or passed[0].suffix or found is None:
        return
    text = f"pass {passed[0].text}.contiguous()"
    sources = {each.file.path: each.file for each in passed}
    if only_reads(*found, group.name) and not _uses_layouts([found[0], *sources.values()]):
        files = tuple(each.wrapped("{}.contiguous()") for each in passed)
        yield Candidate(text, where=passed[0].frame, files=files)
    else:
        condition = "if nothing writes to it or to the result"
        yield Candidate(f"{text}, {condition}", where=passed[0].frame)


def only_reads(file: SourceFile, function: Function, name: str) -> bool:
    """Return whether a function certainly computes new tensors from a tensor, and nothing else."""
    uses = uses_of(function, name)
    # Something that is not a tensor has no layout, so one use must need a tensor in every call.
    is_tensor = any(_fails_without_tensor(file, use) for use in uses) and not has_branches(function)
    return is_tensor and all(is_read(file, use) for use in uses)


def _fails_without_tensor(file: SourceFile, use: ast.expr) -> bool:
    """Return whether a use of a name, or of its product with a constant, needs a tensor."""
    around = file.parents.get(id(use))
    while isinstance(around, ast.BinOp):
        other = around.right if around.left is use else around.left
        if not isinstance(other, ast.Constant):
            return False
        use, around = around, file.parents.get(id(around))
    return passes_to_torch(file, use) or calls_method_of_tensors(file, use)


def _uses_layouts(files: Iterable[SourceFile]) -> bool:
    return any(
        isinstance(node, ast.Attribute) and node.attr in _LAYOUT
        for file in files
        for node in file.nodes
    )

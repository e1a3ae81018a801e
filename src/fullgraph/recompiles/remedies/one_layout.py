"""Make an argument contiguous where it is passed, so that one layout reaches the compiled code.

A tensor that already is contiguous is not copied. The result is the same up to rounding. The patch
is offered only if the function certainly reads the tensor: a write would go to the copy.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from fullgraph.analysis.user_lines.source_file import Function, SourceFile
from fullgraph.fix.source.names import qualified_name
from fullgraph.fix.source.torch_ops import (
    BINARY,
    LINEAR,
    MAY_ALIAS,
    REDUCTIONS,
    SAFE_IF_FINITE,
    UNBOUNDED_GRADIENT,
    words,
)
from fullgraph.model.report import RecompileGroup
from fullgraph.recompiles.candidate import Candidate
from fullgraph.recompiles.context import ProgramContext
from fullgraph.recompiles.remedies._paths import has_branches
from fullgraph.recompiles.remedies._rewrites import function_source, uses_of
from fullgraph.recompiles.source_changes import passed_arguments

TITLE = ".contiguous() where the argument is passed"
KIND = "source"
ORDER = 10

# Return a new tensor and write to none of their arguments.
_NEW = (LINEAR | SAFE_IF_FINITE | UNBOUNDED_GRADIENT | BINARY | REDUCTIONS) - MAY_ALIAS | words(
    """bmm conv1d conv2d conv3d cross_entropy embedding layer_norm linear log_softmax matmul mm
    mse_loss softmax square"""
)
_WRITING_OPTIONS = words("inplace out")
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
    is_tensor = any(_takes_tensor(file, use) for use in uses) and not has_branches(function)
    return is_tensor and all(_is_read(file, use) for use in uses)


def _is_read(file: SourceFile, use: ast.Name) -> bool:
    around = file.parents.get(id(use))
    if isinstance(around, ast.BinOp):
        return isinstance(use.ctx, ast.Load)
    if isinstance(around, ast.Attribute):
        call = file.parents.get(id(around))
        is_called = isinstance(call, ast.Call) and call.func is around
        return around.attr == "shape" or (is_called and around.attr in _NEW)
    return _takes_tensor(file, use)


def _takes_tensor(file: SourceFile, use: ast.Name) -> bool:
    """Return whether a function of torch that returns a new tensor gets the name."""
    call = file.parents.get(id(use))
    if not isinstance(call, ast.Call) or use not in call.args:
        return False
    module, _, name = qualified_name(call.func, file.imports).rpartition(".")
    is_plain = not any(each.arg in _WRITING_OPTIONS or each.arg is None for each in call.keywords)
    return module in ("torch", "torch.nn.functional") and name in _NEW and is_plain


def _uses_layouts(files: Iterable[SourceFile]) -> bool:
    return any(
        isinstance(node, ast.Attribute) and node.attr in _LAYOUT
        for file in files
        for node in file.nodes
    )

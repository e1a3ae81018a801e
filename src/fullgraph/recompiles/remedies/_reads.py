"""Whether a tensor is certainly only read: by functions that compute new tensors from it."""

from __future__ import annotations

import ast

from fullgraph.analysis.user_lines.source_file import SourceFile
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

# Return a new tensor and write to none of their arguments.
_NEW = (LINEAR | SAFE_IF_FINITE | UNBOUNDED_GRADIENT | BINARY | REDUCTIONS) - MAY_ALIAS | words(
    """bmm conv1d conv2d conv3d cross_entropy embedding layer_norm linear log_softmax matmul mm
    mse_loss softmax square"""
)
_WRITING_OPTIONS = words("inplace out")


def is_read(file: SourceFile, use: ast.expr) -> bool:
    """Return whether an expression is only used to compute something else.

    Arithmetic may be done with a number as well; the caller has to know that it is a tensor.
    """
    around = file.parents.get(id(use))
    if isinstance(around, ast.BinOp):
        return isinstance(getattr(use, "ctx", None), ast.Load)
    if isinstance(around, ast.Attribute):
        call = file.parents.get(id(around))
        is_called = isinstance(call, ast.Call) and call.func is around
        return around.attr == "shape" or (is_called and around.attr in _NEW)
    return passes_to_torch(file, use)


def passes_to_torch(file: SourceFile, use: ast.expr) -> bool:
    """Return whether a function of torch that returns a new tensor gets an expression."""
    call = file.parents.get(id(use))
    if not isinstance(call, ast.Call) or use not in call.args:
        return False
    module, _, name = qualified_name(call.func, file.imports).rpartition(".")
    is_plain = not any(each.arg in _WRITING_OPTIONS or each.arg is None for each in call.keywords)
    return module in ("torch", "torch.nn.functional") and name in _NEW and is_plain

"""Turns a loop over the experts that got tokens into a loop over all experts.

What it does: `for expert in mask.nonzero()` becomes `for expert in range(num_experts)`, and a test
such as `if rows.numel() == 0: continue` is removed. `capture_dynamic_output_shape_ops` is set, so
that the result of `torch.where(mask)` has a symbolic size. An expert without tokens then computes
with no rows and adds nothing.

Why it breaks: the number of iterations, or the result of the test, is data-dependent, and Python
needs its value. The number of all experts is a constant.

Safety: exact. The same operators run on the same rows in the same order. The number of experts is
the number of classes of `one_hot`. If `one_hot` has one class more than there are experts and the
loop does not skip it, a check is added. It raises an error (`RuntimeError` instead of `IndexError`)
if a token was routed to that class. If each expert has its own parameters, an expert without tokens
gets no gradient, and an optimizer distinguishes that from a gradient of zero. Such experts are
therefore still skipped while gradients are recorded, and only inference has no break. The same
applies to a class that the loop skips, since it may have got all tokens. For a batch without any
tokens the gradient is zero instead of None.

Not applied when: the body does anything other than compute rows and add them to a result. Examples
are counters, output, random numbers, names that are used after the loop, and reductions that raise
an error for no rows.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from functools import partial

from fullgraph.fix.fixers import Proposal
from fullgraph.fix.fixers.moe_expert_loops.loop import iterated_binding
from fullgraph.fix.fixers.moe_expert_loops.rewrite import loop_over_all, without_test
from fullgraph.fix.model import Candidate, Refusal, Settings
from fullgraph.fix.source.break_ids import (
    DATA_DEPENDENT_BRANCH,
    DATA_DEPENDENT_OPERATOR,
    DYNAMIC_SHAPE_OPERATOR,
    TENSOR_ITEM,
)
from fullgraph.fix.source.context import BreakContext
from fullgraph.fix.source.declined import Declined, first_rewrite
from fullgraph.fix.source.edits import Edit
from fullgraph.fix.source.text import last_line

TITLE = "loop over experts with tokens → loop over all experts"
KIND = "rewrite"
SAFETY = "exact"
IDS = (DYNAMIC_SHAPE_OPERATOR, DATA_DEPENDENT_OPERATOR, DATA_DEPENDENT_BRANCH, TENSOR_ITEM)
CATEGORIES = ()
OFFERED_FOR = r"(?i)expert|nonzero|\bwhere\b|router|top_?k|\btolist\b|\bone_hot\b"
ANY_BREAK = True

_SETTINGS: Settings = {"capture_dynamic_output_shape_ops": True, "capture_scalar_outputs": True}


def propose(context: BreakContext) -> Iterator[Proposal]:
    """Yield the loops around the break, each over all experts."""
    function = context.function
    if function is None:
        return
    for loop in [node for node in ast.walk(function) if isinstance(node, ast.For)]:
        try:
            edits = first_rewrite(*_rewrites(context, function, loop))
        except Declined as declined:
            yield Refusal(declined.reason, declined.line or loop.lineno)
            continue
        if edits is not None:
            file = context.file_edits(edits, imports=("import torch",))
            yield Candidate(file, settings=_SETTINGS)


def _rewrites(
    context: BreakContext, function: ast.FunctionDef, loop: ast.For
) -> Iterator[Callable[[], list[Edit] | None]]:
    """Yield the rewrites to try for a loop; none if the break is elsewhere."""
    line = context.cause.line
    if line > last_line(loop):
        return
    binding = iterated_binding(function, loop)
    if (binding or loop).lineno <= line:
        yield partial(loop_over_all, context, function, loop)
    if loop.lineno <= line:
        for test in loop.body:
            if isinstance(test, ast.If):
                yield partial(without_test, context, function, loop, test)

"""Replaces assignments and reductions of elements that a mask selects with `torch.where`.

What it does: `x[mask] = y[mask]` becomes `x.copy_(torch.where(mask, y, x))`. The same applies to
`x[mask] += 1`, and to indices from `torch.where(condition)` that only select elements as a mask
does. Reductions of boolean tensors are computed over all elements: `correct[mask].any()`, `.all()`,
`.sum()` and `.float().mean()`.

Why it breaks: `y[mask]` has one element per True in the mask, so its size is data-dependent.
`torch.where(mask, y, x)` has the size of `x`.

Safety: exact. Each element is computed as before, and only booleans are summed. The tensor is still
mutated in place, so its views and buffers see the change. A mask that is not known to have the
tensor's shape is reshaped to the tensor's number of dimensions. A mask of a wrong size 1 is then
broadcast, where indexing raised an error. A mean of more than 2**24 booleans is rounded
differently.

Not applied when: the result may differ. A sum or mean of floating-point numbers would be computed
in another order. `max` and `min` raise an error if the mask selects nothing. The expression is now
computed for elements outside the mask too, so only copies, casts, sums, and products with Python
numbers are rewritten. A product of two tensors, a root or a quotient could be NaN there, and make
gradients NaN.
"""

from __future__ import annotations

from collections.abc import Iterator

from fullgraph.fix.fixers import Proposal
from fullgraph.fix.fixers.masks_to_where.rewrite import MaskRewrite
from fullgraph.fix.model import Candidate
from fullgraph.fix.source.break_ids import DYNAMIC_SHAPE_OPERATOR
from fullgraph.fix.source.context import BreakContext
from fullgraph.fix.source.declined import first_rewrite

TITLE = "elements selected by a mask → torch.where"
KIND = "rewrite"
SAFETY = "exact"
IDS = (DYNAMIC_SHAPE_OPERATOR,)
CATEGORIES = ("dynamic-shapes",)
OFFERED_FOR = r"\[|nonzero|masked_select|\bwhere\b"


def propose(context: BreakContext) -> Iterator[Proposal]:
    """Yield the statement at the break, written without a selection."""
    if context.function is None or context.imports.get("torch") != "torch":
        return
    rewrite = MaskRewrite(context, context.function)
    edits = first_rewrite(rewrite.assignment, rewrite.indices, rewrite.reduction)
    if edits is not None:
        yield Candidate(context.file_edits(edits))

"""Moves the sides of a branch on a tensor into functions, one of which `torch.cond` calls.

What it does: `if` and `else` that assign names, ternaries and early returns become two functions
and a call of `torch.cond`. In eager mode `torch.cond` would compile at every call, so it gets a
Python bool there, which makes it a plain branch.

Why it breaks: Python has to know which side to run, and the value of the tensor does not exist
while Dynamo traces. `torch.cond` keeps the branch in the graph: both sides are traced, and one of
them runs. It is for sides that `torch.where` must not compute, such as a division that the test
protects, and for expensive sides.

Safety: exact. In compiled code, both sides must return tensors of the same shape, dtype and
strides, and no existing tensor. Where a side returns an existing tensor, it returns a copy. A
parameter that only the other side uses gets a gradient of zeros in compiled code, where it had
none. With inputs of another dtype, sides that match today may no longer match; that raises at
compile time.

Not applied when: `branch_to_where` applies, which is simpler. A side draws random numbers (the
gradients of `torch.cond` are wrong for them), has side effects, mutates tensors or attributes, or
calls a module that is not known to be free of these. The results are not tensors, differ in shape
or dtype, or are mutated in place.
"""

from __future__ import annotations

from collections.abc import Iterator

from fullgraph.fix.fixers import Proposal
from fullgraph.fix.fixers._branches.branch import (
    BRANCH_IDS,
    TWO_SIDED_BRANCH,
    TensorBranch,
    two_sided_branch,
)
from fullgraph.fix.fixers._branches.to_cond import cond_rewrite
from fullgraph.fix.fixers._branches.to_where import where_rewrite
from fullgraph.fix.model import Candidate
from fullgraph.fix.source.context import BreakContext
from fullgraph.fix.source.declined import Declined

TITLE = "branch on a tensor → torch.cond"
KIND = "rewrite"
SAFETY = "exact"
IDS = BRANCH_IDS
CATEGORIES = ()
OFFERED_FOR = TWO_SIDED_BRANCH


def propose(context: BreakContext) -> Iterator[Proposal]:
    """Yield the branch as `torch.cond`."""
    branch = two_sided_branch(context)
    if branch is not None and not _can_use_where(branch):
        yield Candidate(context.file_edits(cond_rewrite(branch), imports=("import torch",)))


def _can_use_where(branch: TensorBranch) -> bool:
    """Return whether `branch_to_where` proposes a simpler fix."""
    try:
        where_rewrite(branch)
    except Declined:
        return False
    return True

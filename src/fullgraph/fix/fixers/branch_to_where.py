"""Computes both sides of a branch on a tensor and lets `torch.where` choose.

What it does: `if`, `elif` and `else` that assign names, ternaries, early returns, and updates of
buffers under a test become `torch.where` of the same expressions. A buffer stays the same buffer:
if the test is false, it gets the values that it already has.

Why it breaks: Python has to know which side of `if x.sum() > 0: y = x + 1` to run. The value of the
tensor is data-dependent, so it does not exist while Dynamo traces. If both sides are cheap, the
graph can compute both.

Safety: exact. The selected side is computed as before. Two details differ. The result is a new
tensor, where it may have been an existing one. A parameter that only the other side uses gets a
gradient of zeros, where it had none.

Not applied when: computing the other side can be noticed, because the expression may have side
effects, raise, or have an infinite gradient (division, roots, exponentials). The sides may differ
in shape or dtype. The result is mutated in place. Python needs the value of the test or of the
result as a number.
"""

from __future__ import annotations

from collections.abc import Iterator

from fullgraph.fix.fixers import Proposal
from fullgraph.fix.fixers._branches.branch import (
    BRANCH_IDS,
    TWO_SIDED_BRANCH,
    two_sided_branch,
)
from fullgraph.fix.fixers._branches.to_where import where_rewrite
from fullgraph.fix.model import Candidate
from fullgraph.fix.source.context import BreakContext

TITLE = "branch on a tensor → torch.where"
KIND = "rewrite"
SAFETY = "exact"
IDS = BRANCH_IDS
CATEGORIES = ()
OFFERED_FOR = TWO_SIDED_BRANCH


def propose(context: BreakContext) -> Iterator[Proposal]:
    """Yield the branch as `torch.where`."""
    branch = two_sided_branch(context)
    if branch is not None:
        yield Candidate(context.file_edits([where_rewrite(branch)], imports=("import torch",)))

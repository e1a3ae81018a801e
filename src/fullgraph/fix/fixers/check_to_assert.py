"""Turns a check on a tensor into an assertion in the graph.

What it does: in compiled code, `if not ok: raise` and `assert ok, f"..."` become
`torch._assert_async`, an operator that raises at run time if its tensor is false. In eager mode the
original check runs.

Why it breaks: the check is a branch on a tensor, whose value does not exist while Dynamo traces.
One side of the branch only ends the program, so the graph can continue with the other side.

Safety: exact in eager mode. In compiled code the exception is a `RuntimeError`, and its message has
no values. On a GPU it is raised when the device reaches the operator, and the device cannot be used
afterwards. Code behind the check may run before it, so if two errors occur, the other one may be
reported.

Not applied when: the check is inside `try`, which may handle its exception. It does more than
raise. It is an `elif` or has an `else`. Its exception is a signal such as `StopIteration`.
"""

from __future__ import annotations

from collections.abc import Iterator

from fullgraph.fix.fixers import Proposal
from fullgraph.fix.fixers._branches.branch import BRANCH_IDS, tensor_branch
from fullgraph.fix.fixers._branches.to_assert import assert_rewrite
from fullgraph.fix.model import Candidate
from fullgraph.fix.source.context import BreakContext

TITLE = "check on a tensor → assertion in the graph (RuntimeError in compiled code)"
KIND = "rewrite"
SAFETY = "other_exception"
IDS = BRANCH_IDS
CATEGORIES = ()
OFFERED_FOR = r"(?m)^\s*(if|elif|assert|raise)\b|branching"


def propose(context: BreakContext) -> Iterator[Proposal]:
    """Yield the check as an operator."""
    branch = tensor_branch(context)
    edit = assert_rewrite(branch) if branch is not None else None
    if edit is not None:
        yield Candidate(context.file_edits([edit], imports=("import torch",)))

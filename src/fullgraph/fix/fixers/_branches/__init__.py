"""Branches on tensors: find them, check them and rewrite them. Shared by four fixers.

branch.py             the branch that a break is about
predicate.py          the test of a branch as a boolean tensor
side.py               what one side of a branch assigns
conditional_store.py  in-place updates of tensors under a condition
movable.py            statements that may move into a function of their own
where_checks.py       whether torch.where may choose between two expressions
to_where.py           a branch as torch.where
cond_branch.py        one side of a branch as a function for torch.cond
to_cond.py            a branch as torch.cond
to_assert.py          a check as an operator in the graph

Each rewrite returns edits, or raises Declined with the reason.
"""

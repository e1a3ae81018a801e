"""Selective checkpointing gets its policy through functools.partial, and an argument of the partial
is an object made in the forward. That argument must be a constant.
"""

import functools

import torch
from torch.utils.checkpoint import (
    CheckpointPolicy,
    checkpoint,
    create_selective_checkpoint_contexts,
)

from fullgraph.catalog.fix_decorator import fix


class SaveProducts:
    def __init__(self, *operators):
        self.operators = operators

    def __call__(self, context, operator, *args, **kwargs):
        if operator in self.operators:
            return CheckpointPolicy.MUST_SAVE
        return CheckpointPolicy.PREFER_RECOMPUTE


POLICY = SaveProducts(torch.ops.aten.mm.default)


def inputs():
    return torch.randn(4, 8)


def block(x):
    return torch.sin(x @ x.T)


def breaks(x):
    policy = SaveProducts(torch.ops.aten.mm.default)
    contexts = functools.partial(create_selective_checkpoint_contexts, policy)
    return checkpoint(block, x, use_reentrant=False, context_fn=contexts)


@fix("move", "exact")
def fixed(x):
    """The policy is made once, outside, so Dynamo can guard on its identity."""
    contexts = functools.partial(create_selective_checkpoint_contexts, POLICY)
    return checkpoint(block, x, use_reentrant=False, context_fn=contexts)

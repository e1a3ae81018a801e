"""Selective checkpointing is given its policy through functools.partial, and an argument of the
partial is an object that is made in the forward. It would have to be a constant.
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
    """Made once outside, the policy is an object with an identity that Dynamo can guard on."""
    contexts = functools.partial(create_selective_checkpoint_contexts, POLICY)
    return checkpoint(block, x, use_reentrant=False, context_fn=contexts)

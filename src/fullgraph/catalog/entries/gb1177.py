"""A module declared static for Dynamo with `torchdynamo_force_dynamic = False` is mutated inside a
checkpointed block: `module.scale = 2.0`.
"""

import torch
from torch.utils.checkpoint import checkpoint

from fullgraph.catalog.fix_decorator import fix


class Projection(torch.nn.Module):
    torchdynamo_force_dynamic = False

    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(8, 8)
        self.scale = 1.0

    def forward(self, x):
        return self.linear(x) * self.scale


projection = Projection()


def inputs():
    projection.scale = 1.0
    return torch.randn(4, 8)


def breaks(x):
    def block(hidden):
        projection.scale = 2.0
        return torch.relu(projection(hidden))

    return checkpoint(block, x, use_reentrant=False)


def set_scale(x):
    projection.scale = 2.0
    return x


@fix("move", "exact", before=set_scale)
def fixed(x):
    """The caller mutates the module before the call, so the block only reads it."""

    def block(hidden):
        return torch.relu(projection(hidden))

    return checkpoint(block, x, use_reentrant=False)

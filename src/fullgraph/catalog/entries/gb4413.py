"""A checkpointed block counts its calls or notes something on the module, `self.calls += 1`. What
is recomputed in the backward may not leave traces behind.
"""

import torch
from torch.utils.checkpoint import checkpoint

from fullgraph.catalog.fix_decorator import fix


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(8, 8)
        self.calls = 0


def inputs():
    return Block(), torch.randn(4, 8)


def breaks(block, x):
    def forward(hidden):
        block.calls += 1
        return torch.relu(block.linear(hidden))

    return checkpoint(forward, x, use_reentrant=False)


@fix("rewrite", "dropped")
def fixed(block, x):
    """The counter is raised outside the checkpointed part, where Dynamo can replay it after the
    graph. It counts once a step, while a counter inside is raised by each recomputation too."""

    def forward(hidden):
        return torch.relu(block.linear(hidden))

    block.calls += 1
    return checkpoint(forward, x, use_reentrant=False)

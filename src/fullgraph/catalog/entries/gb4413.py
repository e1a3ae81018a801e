"""A checkpointed block counts its calls or stores something on the module, `self.calls += 1`. The
backward recomputes the block, so the block must not have side effects.
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
    """The counter is incremented outside the checkpointed part, where Dynamo can replay it after
    the graph. It counts once per step, while a counter inside also counts each recomputation.
    """

    def forward(hidden):
        return torch.relu(block.linear(hidden))

    block.calls += 1
    return checkpoint(forward, x, use_reentrant=False)

"""A container module that is marked `torchdynamo_force_dynamic = False` and has a `__getitem__` of
its own is sliced: `blocks[:2]`.
"""

import torch
from torch import nn

from fullgraph.catalog.fix_decorator import fix


class Blocks(nn.Module):
    torchdynamo_force_dynamic = False

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(8, 8) for _ in range(3))

    def __getitem__(self, index):
        return self.layers[index]


blocks = Blocks()


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    for block in blocks[:2]:
        x = torch.relu(block(x))
    return x


@fix("rewrite", "exact")
def fixed(x):
    """One index at a time, each a constant."""
    for index in range(2):
        x = torch.relu(blocks[index](x))
    return x


@fix("rewrite", "exact")
def fixed_with_the_list(x):
    """A ModuleList can be sliced, so ask the one inside."""
    for block in blocks.layers[:2]:
        x = torch.relu(block(x))
    return x

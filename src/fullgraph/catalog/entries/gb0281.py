"""A container module declared static with `torchdynamo_force_dynamic = False` has its own
`__getitem__` and is sliced: `blocks[:2]`.
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
    """The loop indexes one block at a time, and each index is a constant."""
    for index in range(2):
        x = torch.relu(blocks[index](x))
    return x


@fix("rewrite", "exact")
def fixed_with_the_list(x):
    """A ModuleList supports slicing, so the code slices the inner list."""
    for block in blocks.layers[:2]:
        x = torch.relu(block(x))
    return x

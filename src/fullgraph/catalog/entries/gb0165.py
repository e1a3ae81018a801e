"""Code for activation checkpointing asks the autograd engine whether it is in an ordinary backward
pass: `Variable._execution_engine.is_checkpoint_valid()`.
"""

import torch
from torch.autograd import Variable

from fullgraph.catalog.kit import fix


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    if Variable._execution_engine.is_checkpoint_valid():
        return torch.relu(x)
    return torch.tanh(x)


def with_answer(x):
    return x, Variable._execution_engine.is_checkpoint_valid()


@fix("move", "exact", before=with_answer)
def fixed(x, valid):
    """Asked before the call, the answer is a bool, a constant of the graph."""
    if valid:
        return torch.relu(x)
    return torch.tanh(x)

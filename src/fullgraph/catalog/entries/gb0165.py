"""Code for activation checkpointing asks the autograd engine whether it is in an ordinary backward
pass, `Variable._execution_engine.is_checkpoint_valid()`, and refuses to work in another.
"""

import torch
from torch.autograd import Variable

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    if not Variable._execution_engine.is_checkpoint_valid():
        raise RuntimeError("checkpoints work with .backward() only")
    return torch.relu(x)


def check(x):
    if not Variable._execution_engine.is_checkpoint_valid():
        raise RuntimeError("checkpoints work with .backward() only")
    return x


@fix("move", "exact", before=check)
def fixed(x):
    """The caller asks the engine, in eager, and then calls what is compiled."""
    return torch.relu(x)

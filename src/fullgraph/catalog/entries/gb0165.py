"""Code for activation checkpointing asks the autograd engine whether an ordinary backward pass is
running, `Variable._execution_engine.is_checkpoint_valid()`. Otherwise the code raises an error.
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
    """The caller asks the engine in eager mode and then calls the compiled function."""
    return torch.relu(x)

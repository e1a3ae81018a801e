"""A compiled function is called while something else traces with fake tensors, and gets a size that
this outer trace knows only as a symbol without a value, from nonzero() for instance.
"""

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.symbolic_shapes import ShapeEnv

INSTEAD = (
    "Leave torch.compile out of what is traced from outside: call the function itself there, or "
    "compile the outermost function alone."
)

with FakeTensorMode(shape_env=ShapeEnv()):
    COUNT = torch.ones(3).nonzero().shape[0]


def inputs():
    return torch.randn(4, 8), COUNT


def breaks(x, count):
    return x.relu(), count + 1

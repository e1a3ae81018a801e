"""A compiled function is called during another trace that uses fake tensors. It gets a size that is
an unbacked symbol of the outer trace, for example from nonzero().
"""

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.symbolic_shapes import ShapeEnv

INSTEAD = (
    "Do not call torch.compile inside the outer trace: call the original function there, or "
    "compile only the outermost function."
)

with FakeTensorMode(shape_env=ShapeEnv()):
    COUNT = torch.ones(3).nonzero().shape[0]


def inputs():
    return torch.randn(4, 8), COUNT


def breaks(x, count):
    return x.relu(), count + 1

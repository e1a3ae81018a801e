"""An activation is selected as a method of a tensor, `x.relu`, and later compared to identify it.
Dynamo cannot compare such a method.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    activation = x.relu if x.shape[-1] > 4 else x.tanh
    gain = 2**0.5 if activation == x.relu else 1.0
    return activation() * gain


@fix("rewrite", "exact")
def fixed(x):
    """The functions `torch.relu` and `torch.tanh` are constants, and Dynamo can compare
    constants.
    """
    activation = torch.relu if x.shape[-1] > 4 else torch.tanh
    gain = 2**0.5 if activation is torch.relu else 1.0
    return activation(x) * gain

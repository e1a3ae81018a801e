"""A layer casts its own weight to another precision on its first run: `layer.weight.data =
layer.weight.data.bfloat16()`.
"""

import torch
import torch.nn.functional as F

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return torch.nn.Linear(8, 4, bias=False), torch.randn(2, 8)


def breaks(layer, x):
    layer.weight.data = layer.weight.data.bfloat16()
    return F.linear(x.bfloat16(), layer.weight)


def cast(layer, x):
    layer.weight.data = layer.weight.data.bfloat16()
    return layer, x


@fix("move", "exact", before=cast)
def fixed(layer, x):
    """The dtype of the parameter is set once, before the model is compiled. The graph only uses the
    weight.
    """
    return F.linear(x.bfloat16(), layer.weight)

"""With `graph_break_on_nn_param_ctor` off, a parameter made in the compiled function is wrapped in
a second parameter, to exclude it from gradients or to tie it.
"""

import torch
from torch import nn

from fullgraph.catalog.fix_decorator import fix

CONFIG = {"graph_break_on_nn_param_ctor": False}


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    weight = nn.Parameter(torch.eye(8))
    frozen = nn.Parameter(weight, requires_grad=False)
    return x @ weight + x @ frozen


@fix("rewrite", "exact", graph_break_on_nn_param_ctor=False)
def fixed(x):
    """detach() returns the same values without gradients, so no second parameter is needed."""
    weight = nn.Parameter(torch.eye(8))
    frozen = weight.detach()
    return x @ weight + x @ frozen

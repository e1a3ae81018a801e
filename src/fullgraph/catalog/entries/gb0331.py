"""The operator with which exported graphs switch gradients on or off is called by hand, and the
switch is a tensor. Whether gradients are recorded has to be known while tracing.
"""

import torch

from fullgraph.catalog.fix_decorator import fix

EAGER_RAISES = True


def inputs():
    return torch.randn(4, 8), torch.tensor(True)


def double(x):
    return x * 2


def breaks(x, training):
    return torch.ops.higher_order.wrap_with_set_grad_enabled(training, double, x)


@fix("move", "exact", before=lambda x, training: (x, bool(training)))
def fixed(x, training):
    """As a bool the switch is a constant of the graph; another value compiles another graph."""
    with torch.set_grad_enabled(training):
        return double(x)

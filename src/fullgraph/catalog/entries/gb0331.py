"""The operator with which exported graphs set the grad mode is called directly, and the mode is a
tensor. The grad mode must be known during tracing.
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
    """As a bool, the mode is a constant of the graph. Another value recompiles."""
    with torch.set_grad_enabled(training):
        return double(x)

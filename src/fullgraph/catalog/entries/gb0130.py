"""Code for sparse buffers empties and resizes one with `sparse_resize_and_clear_`, but gets a dense
buffer. A compiled function cannot make sparse tensors.
"""

import torch

from fullgraph.catalog.fix_decorator import fix

EAGER_RAISES = True


def inputs():
    return torch.ones(3, 3), torch.randn(5, 5)


def breaks(total, update):
    total.sparse_resize_and_clear_((5, 5), 2, 0)
    return total + update


@fix("rewrite", "exact")
def fixed(total, update):
    """None of the old content remains, so new zeros of the new size are equivalent."""
    total = total.new_zeros(5, 5)
    return total + update

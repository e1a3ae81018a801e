"""Code for sparse matrices grows one in place with `sparse_resize_`, but gets a dense matrix. A
compiled function cannot make sparse tensors.
"""

import torch

from fullgraph.catalog.fix_decorator import fix

EAGER_RAISES = True


def inputs():
    return torch.eye(3), torch.randn(5, 2)


def breaks(adjacency, features):
    adjacency.sparse_resize_((5, 5), 2, 0)
    return adjacency @ features


@fix("rewrite", "exact")
def fixed(adjacency, features):
    """Padding with zeros grows a dense matrix."""
    adjacency = torch.nn.functional.pad(adjacency, (0, 2, 0, 2))
    return adjacency @ features

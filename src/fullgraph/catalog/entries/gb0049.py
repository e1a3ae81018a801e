"""An operator is called through `torch.ops` with arguments that fit none of its overloads: one is
missing, in the wrong place or of the wrong type.
"""

import torch

from fullgraph.catalog.fix_decorator import fix

EAGER_RAISES = True


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    return torch.ops.aten._softmax(x, -1) * 2


@fix("rewrite", "exact")
def fixed(x):
    """With the argument that was missing, whether to go from half to float, the schema is met."""
    return torch.ops.aten._softmax(x, -1, False) * 2


@fix("rewrite", "exact")
def fixed_with_public_function(x):
    """The public function fills in what the operator below it wants to be told."""
    return torch.softmax(x, dim=-1) * 2

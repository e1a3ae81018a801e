"""An operator is called through `torch.ops` with arguments that match none of its overloads. An
argument is missing, in the wrong place or of the wrong type.
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
    """The call passes the missing argument, half_to_float, so it matches the schema."""
    return torch.ops.aten._softmax(x, -1, False) * 2


@fix("rewrite", "exact")
def fixed_with_public_function(x):
    """The public function supplies the arguments that the operator requires."""
    return torch.softmax(x, dim=-1) * 2

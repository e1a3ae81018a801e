"""A quantized product is written with `out_dtype`, and an argument of the inner operator is passed
by name. The outer operator takes only positional arguments.
"""

import torch

from fullgraph.catalog.fix_decorator import fix

EAGER_RAISES = True


def inputs():
    return (
        torch.randint(-8, 8, (4, 8), dtype=torch.int8),
        torch.randint(-8, 8, (8, 8), dtype=torch.int8),
    )


def breaks(x, weight):
    mm = torch.ops.aten.mm.default
    return torch.ops.higher_order.out_dtype(mm, torch.int32, x, mat2=weight)


@fix("rewrite", "exact")
def fixed(x, weight):
    """Positional arguments reach the inner operator."""
    mm = torch.ops.aten.mm.default
    return torch.ops.higher_order.out_dtype(mm, torch.int32, x, weight)

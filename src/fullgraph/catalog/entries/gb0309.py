"""The operator under `torch.cond` is called directly, `torch.ops.higher_order.cond(pred, f, g)`,
and without the operands, which have a default only in the public function.
"""

import torch
from torch._higher_order_ops import while_loop

from fullgraph.catalog.fix_decorator import fix

# while_loop compiles its functions in eager as well, and so meets the same error.
EAGER_RAISES = True


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    def step(i, x):
        out = torch.ops.higher_order.cond(x.norm() > 1.0, lambda: x * 0.5, lambda: x * 2.0)
        return i + 1, out

    return while_loop(lambda i, x: i < 3, step, (torch.zeros(()), x))


@fix("rewrite", "exact")
def fixed(x):
    """torch.cond fills in the operands and checks what it is given; tensors that the branches
    close over are lifted by themselves."""

    def step(i, x):
        return i + 1, torch.cond(x.norm() > 1.0, lambda: x * 0.5, lambda: x * 2.0)

    return while_loop(lambda i, x: i < 3, step, (torch.zeros(()), x))

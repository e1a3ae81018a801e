"""The operator behind `torch.cond` is called directly, `torch.ops.higher_order.cond(pred, f, g)`.
It lacks the operands, which have a default only in the public function.
"""

import torch
from torch._higher_order_ops import while_loop

from fullgraph.catalog.fix_decorator import fix

# In eager mode, while_loop compiles its functions too, so the same error occurs.
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
    """torch.cond supplies the operands and checks its arguments. Tensors that the branches close
    over become operands automatically.
    """

    def step(i, x):
        return i + 1, torch.cond(x.norm() > 1.0, lambda: x * 0.5, lambda: x * 2.0)

    return while_loop(lambda i, x: i < 3, step, (torch.zeros(()), x))

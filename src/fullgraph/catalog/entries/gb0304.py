"""The operator behind `while_loop` is called directly, and its additional input is a tensor instead
of a tuple of tensors.
"""

import torch
from torch._higher_order_ops import while_loop

from fullgraph.catalog.fix_decorator import fix

# In eager mode, torch.cond compiles its branches too, so the same error occurs.
EAGER_RAISES = True


def inputs():
    return torch.randn(4, 8)


def copy(x):
    return x.clone()


def is_large(x, scale):
    return x.norm() > 1.0


def shrink(x, scale):
    return (x * scale,)


def by_hand(x):
    scale = torch.full((1,), 0.5)
    (x,) = torch.ops.higher_order.while_loop(is_large, shrink, (x,), scale)
    return x


def breaks(x):
    return torch.cond(x.norm() > 1.0, by_hand, copy, (x,))


def by_while_loop(x):
    scale = torch.full((1,), 0.5)
    (x,) = while_loop(lambda x: x.norm() > 1.0, lambda x: (x * scale,), (x,))
    return x


@fix("rewrite", "exact")
def fixed(x):
    """The functions close over the shared tensor, and while_loop passes it to the operator in the
    right form.
    """
    return torch.cond(x.norm() > 1.0, by_while_loop, copy, (x,))

"""A `torch.cond` gets an object with the settings of its branches among its operands. The graph
passes operands at run time, and a graph passes only tensors.
"""

from dataclasses import dataclass

import torch
from torch._higher_order_ops import while_loop

from fullgraph.catalog.fix_decorator import fix

# In eager mode, while_loop compiles its functions too, so the same error occurs.
EAGER_RAISES = True


@dataclass
class Settings:
    shrink: float = 0.5
    grow: float = 2.0


def inputs():
    return torch.randn(4, 8), Settings()


def breaks(x, settings):
    def step(i, x):
        out = torch.cond(
            x.norm() > 1.0,
            lambda x, settings: x * settings.shrink,
            lambda x, settings: x * settings.grow,
            (x, settings),
        )
        return i + 1, out

    return while_loop(lambda i, x: i < 3, step, (torch.zeros(()), x))


@fix("rewrite", "exact")
def fixed(x, settings):
    """The branches close over the object. Its numbers are constants of the graph, guarded like any
    other attribute.
    """

    def step(i, x):
        out = torch.cond(
            x.norm() > 1.0,
            lambda x: x * settings.shrink,
            lambda x: x * settings.grow,
            (x,),
        )
        return i + 1, out

    return while_loop(lambda i, x: i < 3, step, (torch.zeros(()), x))

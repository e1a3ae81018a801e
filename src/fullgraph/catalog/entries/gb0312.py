"""Next to the tensors, a `torch.cond` is given an object with the settings that its branches use.
The operands are what the graph passes on at run time, and a graph passes tensors.
"""

from dataclasses import dataclass

import torch
from torch._higher_order_ops import while_loop

from fullgraph.catalog.fix_decorator import fix

# while_loop compiles its functions in eager as well, and so meets the same error.
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
    """The branches close over the object instead. Its numbers are constants of the graph, guarded
    like any other attribute."""

    def step(i, x):
        out = torch.cond(
            x.norm() > 1.0,
            lambda x: x * settings.shrink,
            lambda x: x * settings.grow,
            (x,),
        )
        return i + 1, out

    return while_loop(lambda i, x: i < 3, step, (torch.zeros(()), x))

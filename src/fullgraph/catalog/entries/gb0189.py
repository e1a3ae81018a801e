"""A module sets an attribute stored in a slot, replaces a buffer by assignment, and then iterates
over its parameters in the same call.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


class Running(torch.nn.Module):
    __slots__ = ("steps",)

    def __init__(self):
        super().__init__()
        self.steps = 0
        self.scale = torch.nn.Parameter(torch.ones(8))
        self.register_buffer("mean", torch.zeros(8))

    def penalty(self):
        total = 0.0
        for parameter in self.parameters():
            total = total + parameter.square().sum()
        return total

    def assign(self, x):
        self.steps += 1
        self.mean = 0.9 * self.mean + 0.1 * x.mean(dim=0)
        return (x - self.mean) * self.scale, self.penalty()

    def update(self, x):
        self.steps += 1
        self.mean.copy_(0.9 * self.mean + 0.1 * x.mean(dim=0))
        return (x - self.mean) * self.scale, self.penalty()


def inputs():
    return Running(), torch.randn(4, 8)


def breaks(module, x):
    return module.assign(x)


@fix("rewrite", "exact")
def fixed(module, x):
    """The buffer is mutated in place, so the module keeps the same buffers."""
    return module.update(x)

"""A module declared static with `torchdynamo_force_dynamic = False` has a `__getattr__` that is not
an ordinary function. It is made with `functools.partialmethod`, by a decorator or in C.
"""

import functools

import torch
from torch import nn

from fullgraph.catalog.fix_decorator import fix


def lookup(module, name):
    if name == "scale":
        return 0.5
    return nn.Module.__getattr__(module, name)


class Scaled(nn.Module):
    torchdynamo_force_dynamic = False
    __getattr__ = functools.partialmethod(lookup)


class ScaledByFunction(nn.Module):
    torchdynamo_force_dynamic = False

    def __getattr__(self, name):
        return lookup(self, name)


SCALED = Scaled()
SCALED_BY_FUNCTION = ScaledByFunction()


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    return x * SCALED.scale


@fix("rewrite", "exact")
def fixed(x):
    """Dynamo traces a method written with `def`."""
    return x * SCALED_BY_FUNCTION.scale

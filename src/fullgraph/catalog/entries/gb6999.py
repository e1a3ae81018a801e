"""A nested function under a decorator such as `torch.no_grad()` keeps something as an attribute of
itself, a counter for instance. For a decorated function that it has just seen being made, Dynamo
has no attributes.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    @torch.no_grad()
    def smooth(tensor):
        smooth.calls += 1
        return tensor * 0.5

    smooth.calls = 0
    return smooth(x) + smooth(x), smooth.calls


@fix("rewrite", "exact")
def fixed(x):
    """The counter is a variable of the function around, which Dynamo follows."""
    calls = 0

    @torch.no_grad()
    def smooth(tensor):
        nonlocal calls
        calls += 1
        return tensor * 0.5

    return smooth(x) + smooth(x), calls

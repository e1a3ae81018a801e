"""A nested function with a decorator such as `torch.no_grad()` stores something as its own
attribute, such as a counter. Dynamo tracks no attributes for a decorated function made during
tracing.
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
    """The counter is a variable of the enclosing function, which Dynamo tracks."""
    calls = 0

    @torch.no_grad()
    def smooth(tensor):
        nonlocal calls
        calls += 1
        return tensor * 0.5

    return smooth(x) + smooth(x), calls

"""A function marked with `torch._dynamo.nonstrict_trace` returns an object of a custom class. It
may only return tensors, numbers and containers that pytree supports.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


class Output:
    def __init__(self, hidden, norm):
        self.hidden = hidden
        self.norm = norm


def inputs():
    return torch.randn(4, 8)


@torch._dynamo.nonstrict_trace
def encode(x):
    return Output(torch.tanh(x), x.norm())


def breaks(x):
    output = encode(x)
    return output.hidden / output.norm


@torch._dynamo.nonstrict_trace
def encode_to_tuple(x):
    return torch.tanh(x), x.norm()


@fix("rewrite", "exact")
def fixed(x):
    """pytree can flatten and rebuild a tuple. The caller can wrap it again."""
    output = Output(*encode_to_tuple(x))
    return output.hidden / output.norm

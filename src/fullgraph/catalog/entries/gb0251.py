"""A function marked with `torch._dynamo.nonstrict_trace` returns its result in an object of its
own class. Only tensors, numbers and containers that pytree knows can come back.
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
    """A tuple is taken apart and put together by pytree; the caller may wrap it again."""
    output = Output(*encode_to_tuple(x))
    return output.hidden / output.norm

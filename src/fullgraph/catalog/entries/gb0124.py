"""A value is read out of a tensor as a Python number, to scale by it or to log it:
`loss.item()`, `x.max().item()`. Python needs the number at once, so the graph ends there.
"""

import torch

from fullgraph.catalog.fix_decorator import fix

# With fullgraph=True torch captures the number by itself.
BY_DEFAULT = True
RELEASES = ("2.8", "2.15")


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    scale = x.abs().max().item()
    return x / scale


@fix("rewrite", "exact")
def fixed(x):
    """A tensor of one element scales just as well, and never leaves the graph."""
    scale = x.abs().max()
    return x / scale


@fix("setting", "equal", capture_scalar_outputs=True)
def fixed_by_capturing(x):
    """The number becomes a symbol in the graph; it may flow into arithmetic and sizes."""
    scale = x.abs().max().item()
    return x / scale

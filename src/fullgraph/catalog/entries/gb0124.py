"""A Python number is read from a tensor, to scale by it or to log it: `loss.item()`,
`x.max().item()`. Python needs the number immediately, so the graph ends there.
"""

import torch

from fullgraph.catalog.fix_decorator import fix

# With fullgraph=True torch captures the number without a setting.
BY_DEFAULT = True


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    scale = x.abs().max().item()
    return x / scale


@fix("rewrite", "exact")
def fixed(x):
    """A 0-d tensor can scale as well, and it stays in the graph."""
    scale = x.abs().max()
    return x / scale


@fix("setting", "equal", capture_scalar_outputs=True)
def fixed_by_capturing(x):
    """The number becomes an unbacked symbol in the graph, which arithmetic and sizes can use."""
    scale = x.abs().max().item()
    return x / scale

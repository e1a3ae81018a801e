"""A `comptime` block, run by the compiler while it traces, was used to look at the state of a
compilation, and it ends the graph on purpose with `ctx.graph_break()`.
"""

import torch
from torch._dynamo.comptime import comptime

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    hidden = torch.relu(x)

    @comptime
    def _(ctx):
        ctx.print_locals()
        ctx.graph_break("look at the first half alone")

    return hidden * 2 + 1


@fix("rewrite", "exact")
def fixed(x):
    """Without its `graph_break()` the block only looks, which leaves the graph whole."""
    hidden = torch.relu(x)

    @comptime
    def _(ctx):
        ctx.print_locals()

    return hidden * 2 + 1

"""A `comptime` block, which the compiler runs during tracing, inspects the state of the
compilation. It ends the graph on purpose with `ctx.graph_break()`.
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
    """Without its `graph_break()` the block only prints, and the graph stays whole."""
    hidden = torch.relu(x)

    @comptime
    def _(ctx):
        ctx.print_locals()

    return hidden * 2 + 1

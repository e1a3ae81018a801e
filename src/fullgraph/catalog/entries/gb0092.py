"""While something else breaks the graph, an object is alive that Dynamo cannot make again for the
rest of the function: an iterator over a dict, a dtype of NumPy.
"""

import torch

from fullgraph.catalog.fix_decorator import fix

# With fullgraph=True nothing breaks in between.
BY_DEFAULT = True


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    heads = iter({"mean": x.mean(dim=-1), "peak": x.amax(dim=-1)}.items())
    scale = x.abs().max().item()
    return {name: value / scale for name, value in heads}


@fix("rewrite", "exact")
def fixed(x):
    """Without the break in between, nothing has to be made again: the scale stays a tensor."""
    heads = iter({"mean": x.mean(dim=-1), "peak": x.amax(dim=-1)}.items())
    scale = x.abs().max()
    return {name: value / scale for name, value in heads}

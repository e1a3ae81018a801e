"""Something else breaks the graph while the function holds an object that Dynamo cannot
reconstruct: an iterator over a dict, a NumPy dtype. The rest of the function needs that object.
"""

import torch

from fullgraph.catalog.fix_decorator import fix

# With fullgraph=True the .item() does not break the graph.
BY_DEFAULT = True


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    heads = iter({"mean": x.mean(dim=-1), "peak": x.amax(dim=-1)}.items())
    scale = x.abs().max().item()
    return {name: value / scale for name, value in heads}


@fix("rewrite", "exact")
def fixed(x):
    """The scale stays a tensor, so nothing breaks and Dynamo reconstructs no object."""
    heads = iter({"mean": x.mean(dim=-1), "peak": x.amax(dim=-1)}.items())
    scale = x.abs().max()
    return {name: value / scale for name, value in heads}

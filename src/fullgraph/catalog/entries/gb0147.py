"""A container is made by calling its annotated type, `dict[str, torch.Tensor]()`. Python allows
it, Dynamo does not know how to call such an alias.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    features = dict[str, torch.Tensor]()
    features["mean"] = x.mean(dim=-1)
    features["peak"] = x.amax(dim=-1)
    return features


@fix("rewrite", "exact")
def fixed(x):
    """The types belong into an annotation, and the dict is made as ever."""
    features: dict[str, torch.Tensor] = {}
    features["mean"] = x.mean(dim=-1)
    features["peak"] = x.amax(dim=-1)
    return features

"""A container is made by calling a parameterized type, `dict[str, torch.Tensor]()`. Python allows
this, but Dynamo cannot call such an alias.
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
    """The types are in an annotation, and the dict is a literal."""
    features: dict[str, torch.Tensor] = {}
    features["mean"] = x.mean(dim=-1)
    features["peak"] = x.amax(dim=-1)
    return features

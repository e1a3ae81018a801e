"""A helper marked with `torch._dynamo.assume_constant_result` gets a list of tensors computed in
the graph, to count or choose something. It runs during tracing, when the tensors have no values.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return torch.randn(4, 8)


@torch._dynamo.assume_constant_result
def average_width(features):
    return sum(feature.shape[-1] for feature in features) / len(features)


def breaks(x):
    features = [x.sin(), x.cos()]
    return torch.cat(features, dim=-1) / average_width(features)


def average_width_traced(features):
    return sum(feature.shape[-1] for feature in features) / len(features)


@fix("rewrite", "exact")
def fixed(x):
    """Without the mark Dynamo traces the helper, and arithmetic on shapes is constant anyway."""
    features = [x.sin(), x.cos()]
    return torch.cat(features, dim=-1) / average_width_traced(features)


@torch._dynamo.assume_constant_result
def average(widths):
    return sum(widths) / len(widths)


@fix("rewrite", "exact")
def fixed_with_constant_arguments(x):
    """If the helper must run during tracing, it gets plain numbers, which are known then."""
    features = [x.sin(), x.cos()]
    return torch.cat(features, dim=-1) / average(tuple(f.shape[-1] for f in features))

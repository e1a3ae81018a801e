"""Methods of a tensor are the keys of a table, `{x.sin: 2.0, x.cos: 0.5}`. Keys must be hashed, and
Dynamo cannot hash a method bound to a traced tensor.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    scales = {x.sin: 2.0, x.cos: 0.5}
    out = torch.zeros_like(x)
    for method, scale in scales.items():
        out = out + method() * scale
    return out


@fix("rewrite", "exact")
def fixed(x):
    """torch.sin is not bound to a tensor. It is a constant that Dynamo can hash during tracing."""
    scales = {torch.sin: 2.0, torch.cos: 0.5}
    out = torch.zeros_like(x)
    for function, scale in scales.items():
        out = out + function(x) * scale
    return out

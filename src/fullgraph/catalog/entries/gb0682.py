"""Code counts which methods of a tensor it has called, and uses the bound method itself as the key:
`calls[x.sin] += 1`. A method of a traced tensor is no constant that could be hashed.
"""

import torch

from fullgraph.catalog.kit import fix


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
    """The functions in torch belong to no tensor and are constants."""
    scales = {torch.sin: 2.0, torch.cos: 0.5}
    out = torch.zeros_like(x)
    for function, scale in scales.items():
        out = out + function(x) * scale
    return out

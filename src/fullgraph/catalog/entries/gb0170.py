"""A layer takes another path when its activations are small, negative or not finite: `if
scores.sum() > 0:`. The condition is a tensor, and its value is not known during tracing.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    scores = x.mean(dim=-1, keepdim=True)
    if scores.sum() > 0:
        return x * scores
    return x - scores


@fix("rewrite", "exact")
def fixed(x):
    """Both sides are cheap and safe to compute, so compute both and select with torch.where."""
    scores = x.mean(dim=-1, keepdim=True)
    return torch.where(scores.sum() > 0, x * scores, x - scores)


@fix("rewrite", "exact")
def fixed_with_cond(x):
    """torch.cond keeps both branches in the graph and runs only the selected one."""
    scores = x.mean(dim=-1, keepdim=True)
    return torch.cond(scores.sum() > 0, lambda a, s: a * s, lambda a, s: a - s, (x, scores))

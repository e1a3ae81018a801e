"""A layer looks at its activations and takes another path when they are small, negative or not
finite: `if scores.sum() > 0:`. The test is a tensor, and its value is not known while tracing.
"""

import torch

from fullgraph.catalog.fix_decorator import fix

RELEASES = ("2.8", "2.15")


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    scores = x.mean(dim=-1, keepdim=True)
    if scores.sum() > 0:
        return x * scores
    return x - scores


@fix("rewrite", "exact")
def fixed(x):
    """Both sides are cheap and safe to compute, so compute both and let torch.where choose."""
    scores = x.mean(dim=-1, keepdim=True)
    return torch.where(scores.sum() > 0, x * scores, x - scores)


@fix("rewrite", "exact")
def fixed_with_cond(x):
    """torch.cond keeps both branches in the graph and runs only the one that is taken."""
    scores = x.mean(dim=-1, keepdim=True)
    return torch.cond(scores.sum() > 0, lambda a, s: a * s, lambda a, s: a - s, (x, scores))

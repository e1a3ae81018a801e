"""A list of tensors is sorted by a score that is a tensor, as in beam search or to keep the best
crops: `candidates.sort(key=lambda c: c.max())`.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    candidates = list(x)
    candidates.sort(key=lambda candidate: candidate.max())
    return torch.stack(candidates)


@fix("rewrite", "exact")
def fixed(x):
    """argsort computes the order inside the graph, and indexing applies it."""
    scores = x.max(dim=-1).values
    return x[scores.argsort(stable=True)]

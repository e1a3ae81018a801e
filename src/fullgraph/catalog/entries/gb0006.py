"""A class keeps a module or another callable object as an attribute, and a subclass calls it
through `super()`. Dynamo expects a function there.
"""

import torch

from fullgraph.catalog.kit import fix


class Scorer:
    activation = torch.nn.ReLU()


class ShiftedScorer(Scorer):
    def score(self, x):
        return super().activation(x - 1)

    def score_by_name(self, x):
        return Scorer.activation(x - 1)


scorer = ShiftedScorer()


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    return scorer.score(x)


@fix("rewrite", "exact")
def fixed(x):
    """The attribute is read from the base class by its name, as super() would have found it."""
    return scorer.score_by_name(x)

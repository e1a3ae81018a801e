"""A separate generator keeps an augmentation reproducible, and its seed is passed by keyword:
`random.Random(x=seed)`. Dynamo accepts the seed only by position.
"""

import random

import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    generator = random.Random(x=7)
    return x * generator.random()


@fix("rewrite", "exact")
def fixed(x):
    """The seed by position makes the same generator, and Dynamo traces it."""
    generator = random.Random(7)
    return x * generator.random()

"""The compiled function defines a small class: a record of results, a local subclass. Dynamo does
not trace most `class` statements.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    class Statistics:
        def __init__(self, mean, std):
            self.mean = mean
            self.std = std

    statistics = Statistics(x.mean(), x.std())
    return (x - statistics.mean) / statistics.std


class Statistics:
    def __init__(self, mean, std):
        self.mean = mean
        self.std = std


@fix("move", "exact")
def fixed(x):
    """The class is defined once, at module level. Dynamo traces making its instances."""
    statistics = Statistics(x.mean(), x.std())
    return (x - statistics.mean) / statistics.std

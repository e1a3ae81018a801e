"""A small class, a record of results or a local subclass, is defined inside the function that is
compiled. Running a `class` statement is something that Dynamo mostly does not trace.
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
    """The class is defined once, at the top of the module; making objects of it is traced."""
    statistics = Statistics(x.mean(), x.std())
    return (x - statistics.mean) / statistics.std

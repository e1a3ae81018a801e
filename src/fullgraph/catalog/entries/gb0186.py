"""The keywords of a `functools.partial` come from an enum of strings: `partial(scale,
**{Option.FACTOR: 2.0})`.
"""

from enum import Enum
from functools import partial

import torch

from fullgraph.catalog.fix_decorator import fix


class Option(str, Enum):
    FACTOR = "factor"


def scale(x, factor):
    return x * factor


double = partial(scale, **{Option.FACTOR: 2.0})
double_by_name = partial(scale, **{Option.FACTOR.value: 2.0})


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    return double(x)


@fix("rewrite", "exact")
def fixed(x):
    """The keyword is a plain string: the value of the enum member."""
    return double_by_name(x)

"""A compiled test helper checks for a warning with `case.assertWarns(...)`, while tracing into
unittest is enabled.
"""

import unittest
import warnings

import torch

from fullgraph.catalog.fix_decorator import fix

CONFIG = {"enable_trace_unittest": True}

case = unittest.TestCase()


def inputs():
    return torch.randn(4, 8)


def scale(factor):
    if factor > 1:
        warnings.warn("a large factor", stacklevel=2)
    return factor


def breaks(x):
    with case.assertWarns(UserWarning):
        factor = scale(2)
    return x * factor


def check(x):
    with case.assertWarns(UserWarning):
        return x, scale(2)


@fix("move", "exact", before=check)
def fixed(x, factor):
    """The test checks for the warning outside, and only the computation is compiled."""
    return x * factor

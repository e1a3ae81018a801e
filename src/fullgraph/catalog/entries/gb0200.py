"""Code contains a set display, `{1, 2}`, while a test-only option of Dynamo disables building
sets.
"""

import torch

from fullgraph.catalog.fix_decorator import fix

CONFIG = {"inject_BUILD_SET_unimplemented_TESTING_ONLY": True}


def inputs():
    return torch.randn(4, 8), 0


def breaks(x, dim):
    seen = {dim, dim + 1}
    return x.sum(dim=tuple(seen))


@fix("setting", "exact", inject_BUILD_SET_unimplemented_TESTING_ONLY=False)
def fixed(x, dim):
    """With the option off, which is the default, Dynamo builds sets during tracing."""
    seen = {dim, dim + 1}
    return x.sum(dim=tuple(seen))

"""A set is written out, `{1, 2}`, while a switch for testing Dynamo itself pretends that it cannot
build sets.
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
    """With the switch off, as it is by default, sets are built while tracing."""
    seen = {dim, dim + 1}
    return x.sum(dim=tuple(seen))

"""An `assert` about a size fails for the given input. For example, a layer that pairs its rows gets
an odd number of rows. The size is a symbol in the graph, and the check is false for it.
"""

import torch

from fullgraph.catalog.fix_decorator import fix

EAGER_RAISES = True
COMPILE = {"dynamic": True}


def inputs():
    return torch.randn(5, 8)


def breaks(x):
    assert x.shape[0] % 2 == 0, "rows come in pairs"
    return x.view(-1, 2, 8).mean(dim=1)


@fix("rewrite", "exact")
def fixed(x):
    """An odd last row is paired with itself, so its mean is the row. Even numbers of rows give the
    same result as before.
    """
    if x.shape[0] % 2 == 1:
        x = torch.cat([x, x[-1:]])
    return x.view(-1, 2, 8).mean(dim=1)

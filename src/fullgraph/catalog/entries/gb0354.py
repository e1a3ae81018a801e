"""A name is used that nobody defined: a forgotten `import torch.nn.functional as F`, a typing
mistake. Eager raises a NameError as soon as the line is run.
"""

import torch

from fullgraph.catalog.fix_decorator import fix

EAGER_RAISES = True


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    return F.relu(x)  # noqa: F821


@fix("rewrite", "exact")
def fixed(x):
    """The function goes by the name that torch gives it."""
    return torch.nn.functional.relu(x)

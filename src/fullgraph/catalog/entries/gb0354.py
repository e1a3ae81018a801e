"""Code uses an undefined name: a missing `import torch.nn.functional as F`, a typing error. Eager
mode raises a NameError when the line runs.
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
    """The function is called by its full name in torch."""
    return torch.nn.functional.relu(x)

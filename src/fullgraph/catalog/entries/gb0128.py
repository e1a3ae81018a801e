"""Code builds overlapping windows of a signal manually. `set_` points an empty tensor at the
storage of the signal with an offset, a size and strides.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return torch.randn(10)


def breaks(signal):
    windows = torch.empty(0).set_(signal, 0, (7, 4), (1, 1))
    return windows.mean(dim=1)


@fix("rewrite", "exact")
def fixed(signal):
    """unfold makes the same overlapping view without changing a storage."""
    windows = signal.unfold(0, 4, 1)
    return windows.mean(dim=1)


@fix("rewrite", "exact")
def fixed_with_as_strided(signal):
    """For layouts that no view function describes, as_strided takes the same size, strides and
    offset. It is an ordinary operator.
    """
    windows = signal.as_strided((7, 4), (1, 1), 0)
    return windows.mean(dim=1)

"""A tensor is mutated while its version counter is preserved. The context manager for that is
returned, or is still alive when the graph breaks.
"""

import torch
from torch.autograd import _unsafe_preserve_version_counter

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return torch.zeros(4, 8)


def breaks(buffer):
    keeper = _unsafe_preserve_version_counter(buffer)
    with keeper:
        buffer.add_(1)
    return buffer, keeper


@fix("move", "exact", after=lambda b: (b, _unsafe_preserve_version_counter(b)))
def fixed(buffer):
    """The context manager is used only in the `with` statement, so it never leaves the graph. A
    caller that needs one makes it.
    """
    with _unsafe_preserve_version_counter(buffer):
        buffer.add_(1)
    return buffer

"""A tensor is written to while its version counter is held, and the context manager for that is
given back or is alive when the graph breaks.
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
    """Used in the `with` statement alone, the context manager never leaves the graph. A caller that
    wants one makes it."""
    with _unsafe_preserve_version_counter(buffer):
        buffer.add_(1)
    return buffer

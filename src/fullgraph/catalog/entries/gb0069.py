"""A function imports an optional library and falls back to plain torch when the library is missing.
The import fails during tracing, and Dynamo does not trace into the `except` that handles it.
"""

import torch

from fullgraph.catalog.fix_decorator import fix

try:
    from faster_softmax import softmax
except ImportError:
    softmax = torch.softmax


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    try:
        import faster_softmax

        return faster_softmax.softmax(x, -1)
    except ImportError:
        return torch.softmax(x, -1)


@fix("move", "exact")
def fixed(x):
    """The module tries the import once, at the top of the file. The function uses the result."""
    return softmax(x, -1)

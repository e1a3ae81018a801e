"""A value is formatted with `repr(loss)` or `f"{loss!r}"`, for a log or for the name of a
checkpoint. The digits are not known during tracing.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    loss = x.square().mean()
    return loss, f"step done, loss={loss!r}"


@fix("move", "exact", after=lambda loss: (loss, f"step done, loss={loss!r}"))
def fixed(x):
    """The compiled function returns the tensor, and the caller formats the string."""
    return x.square().mean()

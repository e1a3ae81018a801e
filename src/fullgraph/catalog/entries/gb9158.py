"""The message of a `torch._check` contains a tensor: `lambda: f"bad lengths {lengths}"`."""

import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return torch.randn(4, 8), torch.tensor([3, 5])


def breaks(x, lengths):
    torch._check(x.shape[0] >= lengths.shape[0], lambda: f"too many lengths: {lengths}")
    return x[: lengths.shape[0]] * lengths[:, None]


@fix("rewrite", "exact")
def fixed(x, lengths):
    """The message may contain numbers known during tracing, but no tensors."""
    count = lengths.shape[0]
    torch._check(x.shape[0] >= count, lambda: f"too many lengths: {count}")
    return x[:count] * lengths[:, None]

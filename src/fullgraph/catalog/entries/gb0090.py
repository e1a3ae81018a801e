"""A custom operator from `torch.library.define` or a C++ extension has kernels for real devices
only. Dynamo runs it on fake tensors to get the shape of its result, which fails.
"""

import torch

from fullgraph.catalog.fix_decorator import fix

torch.library.define("fullgraph_catalog::gb0090", "(Tensor x) -> Tensor")
torch.library.define("fullgraph_catalog::gb0090_with_fake", "(Tensor x) -> Tensor")


@torch.library.impl("fullgraph_catalog::gb0090", "CPU")
def _(x):
    return x * torch.sigmoid(x)


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    return torch.ops.fullgraph_catalog.gb0090(x) + 1


@torch.library.impl("fullgraph_catalog::gb0090_with_fake", "CPU")
def _(x):
    return x * torch.sigmoid(x)


@torch.library.register_fake("fullgraph_catalog::gb0090_with_fake")
def _(x):
    return torch.empty_like(x)


@fix("rewrite", "exact")
def fixed(x):
    """`torch.library.register_fake` describes the result. It works from Python, also for operators
    of C++ extensions.
    """
    return torch.ops.fullgraph_catalog.gb0090_with_fake(x) + 1

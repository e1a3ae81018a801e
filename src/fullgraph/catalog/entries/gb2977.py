"""A compiled function calls a function from TorchScript source, through `torch.jit.CompilationUnit`
or a loaded archive. It has no Python function that Dynamo can trace instead.
"""

import torch

from fullgraph.catalog.fix_decorator import fix

gelu = torch.jit.CompilationUnit("""
def gelu(x):
    return 0.5 * x * (1.0 + torch.tanh(0.79788456 * (x + 0.044715 * x * x * x)))
""").gelu


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    return gelu(x) + 1


def gelu_python(x):
    return 0.5 * x * (1.0 + torch.tanh(0.79788456 * (x + 0.044715 * x * x * x)))


@fix("rewrite", "equal")
def fixed(x):
    """TorchScript source is nearly Python. Dynamo traces it as a Python function, and the backend
    can fuse it.
    """
    return gelu_python(x) + 1


@torch.library.custom_op("fullgraph_catalog::gb2977", mutates_args=())
def gelu_operator(x: torch.Tensor) -> torch.Tensor:
    return gelu(x)


@gelu_operator.register_fake
def _(x):
    return torch.empty_like(x)


@fix("escape", "equal")
def fixed_with_an_operator(x):
    """If only the archive is available, the function becomes an opaque operator in the graph."""
    return gelu_operator(x) + 1

"""A function comes from TorchScript source, through `torch.jit.CompilationUnit` or a loaded
archive, and a compiled function calls it. Behind it is no Python function to trace instead.
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
    """TorchScript source is nearly Python: as a Python function it is traced and fused."""
    return gelu_python(x) + 1


@torch.library.custom_op("fullgraph_catalog::gb2977", mutates_args=())
def gelu_operator(x: torch.Tensor) -> torch.Tensor:
    return gelu(x)


@gelu_operator.register_fake
def _(x):
    return torch.empty_like(x)


@fix("escape", "equal")
def fixed_with_an_operator(x):
    """Where only the archive is left, the function goes into the graph as an opaque operator."""
    return gelu_operator(x) + 1

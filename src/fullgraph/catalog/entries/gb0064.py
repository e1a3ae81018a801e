"""The compiled function uses a quantized tensor: from `torch.quantize_per_tensor`, or the weights
of an old eager-mode quantized model.
"""

import warnings

import torch

from fullgraph.catalog.fix_decorator import fix

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # these quantized tensors are deprecated
    WEIGHT = torch.quantize_per_tensor(torch.linspace(-1, 1, 32).reshape(8, 4), 0.1, 0, torch.qint8)


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    return torch.relu(x @ WEIGHT.dequantize())


def with_weight(x):
    return x, WEIGHT.dequantize()


@fix("move", "exact", before=with_weight)
def fixed(x, weight):
    """The weight is converted to floats before the call, so it is an ordinary input."""
    return torch.relu(x @ weight)


def with_integers(x):
    return x, WEIGHT.int_repr(), WEIGHT.q_scale(), WEIGHT.q_zero_point()


@fix("rewrite", "equal", before=with_integers)
def fixed_with_integers(x, integers, scale, zero_point):
    """Plain int8 values and a scale represent the same weight, which stays small in memory. The
    conversion is in the graph, where the compiler can fuse it.
    """
    return torch.relu(x @ ((integers.float() - zero_point) * scale))

"""Code that runs both in training and in serving asks `torch.is_inference_mode_enabled()` to choose
a cheaper path.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    if torch.is_inference_mode_enabled():
        return x.relu()
    return torch.nn.functional.gelu(x)


def ask(x):
    return x, torch.is_inference_mode_enabled()


@fix("move", "exact", before=ask)
def fixed(x, serving):
    """The caller asks in eager and passes a bool; each of the two values has a graph of its own."""
    if serving:
        return x.relu()
    return torch.nn.functional.gelu(x)


@fix("rewrite", "narrower")
def fixed_with_grad_mode(x):
    """Whether gradients are recorded is known while tracing. It is off in inference mode, but under
    no_grad as well."""
    if not torch.is_grad_enabled():
        return x.relu()
    return torch.nn.functional.gelu(x)

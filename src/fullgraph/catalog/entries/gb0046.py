"""Code for both training and serving calls `torch.is_inference_mode_enabled()` to choose a cheaper
path.
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
    """The caller checks in eager mode and passes a bool. Each of the two values has its own
    graph.
    """
    if serving:
        return x.relu()
    return torch.nn.functional.gelu(x)


@fix("rewrite", "narrower")
def fixed_with_grad_mode(x):
    """The grad mode is known during tracing. It is off in inference mode, but also under
    no_grad.
    """
    if not torch.is_grad_enabled():
        return x.relu()
    return torch.nn.functional.gelu(x)

"""A forward contains `torch._dynamo.step_unsupported()`. This debugging call makes Dynamo end the
graph at its last checkpoint and run the rest in eager mode.
"""

import torch

from fullgraph.catalog.fix_decorator import fix

# With fullgraph=True torch reports GB0284.
BY_DEFAULT = True


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    hidden = torch.relu(x)
    hidden = hidden + 1
    hidden = hidden * 2
    torch._dynamo.step_unsupported()
    return hidden - 1


@fix("rewrite", "exact")
def fixed(x):
    """The call only serves to debug Dynamo and computes nothing, so it can be removed."""
    hidden = torch.relu(x)
    hidden = hidden + 1
    hidden = hidden * 2
    return hidden - 1

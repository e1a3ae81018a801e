"""`torch._dynamo.step_unsupported()`, a debugging call that makes Dynamo end the graph at its last
checkpoint and run the rest in eager, was left in a forward.
"""

import torch

from fullgraph.catalog.fix_decorator import fix

# With fullgraph=True it is GB0284.
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
    """The call is for debugging Dynamo only and computes nothing, so it can go."""
    hidden = torch.relu(x)
    hidden = hidden + 1
    hidden = hidden * 2
    return hidden - 1

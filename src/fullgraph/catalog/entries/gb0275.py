"""`torch._dynamo.step_unsupported()`, a debugging call that makes Dynamo go back to its last
checkpoint, was left in a function that is too short to have a checkpoint.
"""

import torch

from fullgraph.catalog.fix_decorator import fix

# With fullgraph=True the call itself is reported.
BY_DEFAULT = True


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    torch._dynamo.step_unsupported()
    return torch.relu(x) + 1


@fix("rewrite", "exact")
def fixed(x):
    """The call is for debugging Dynamo only and computes nothing, so it can go."""
    return torch.relu(x) + 1

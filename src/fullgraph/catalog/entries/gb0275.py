"""A function contains `torch._dynamo.step_unsupported()`, a debugging call that makes Dynamo return
to its last checkpoint. The function is too short to have a checkpoint.
"""

import torch

from fullgraph.catalog.fix_decorator import fix

# With fullgraph=True torch reports the call itself.
BY_DEFAULT = True


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    torch._dynamo.step_unsupported()
    return torch.relu(x) + 1


@fix("rewrite", "exact")
def fixed(x):
    """The call only serves to debug Dynamo and computes nothing, so it can be removed."""
    return torch.relu(x) + 1

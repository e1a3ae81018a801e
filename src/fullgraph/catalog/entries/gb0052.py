"""A module declared static for Dynamo with `torchdynamo_force_dynamic = False` sets its own
attribute in the forward. Dynamo restarts to treat the module as dynamic, finds it declared static,
and restarts again.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


class Activation(torch.nn.Module):
    def forward(self, x):
        self.last_batch = x.shape[0]
        return torch.relu(x)


class StaticActivation(Activation):
    torchdynamo_force_dynamic = False


activation = Activation()
static_activation = StaticActivation()


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    return static_activation(x) + 1


@fix("rewrite", "exact")
def fixed(x):
    """Without `torchdynamo_force_dynamic` Dynamo traces into the module and sets the attribute
    after the graph.
    """
    return activation(x) + 1

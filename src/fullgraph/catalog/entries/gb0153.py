"""A module declared static with `torchdynamo_force_dynamic = False` selects one of its layers with
a tensor as the index.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


class Experts(torch.nn.ModuleList):
    torchdynamo_force_dynamic = False


with torch.random.fork_rng():
    EXPERTS = Experts([torch.nn.Linear(8, 4) for _ in range(2)])


def inputs():
    return torch.randn(2, 8), torch.tensor(1)


def breaks(x, choice):
    return EXPERTS[choice](x)


@fix("rewrite", "exact")
def fixed(x, choice):
    """All experts run, and the tensor selects one of the results."""
    return torch.stack([expert(x) for expert in EXPERTS])[choice]

"""A module overrides `__getattribute__`, to count or to log each access, in a way that cannot be
traced. It shows for modules that are traced as they are, not through their code: in a strict
torch.export, or if marked as below.
"""

import torch

from fullgraph.catalog.kit import fix


class Watched(torch.nn.Module):
    torchdynamo_force_dynamic = False

    def __getattribute__(self, name):
        if name == "scale":
            print("scale was read of", torch.ones(1))
            return 0.5
        return super().__getattribute__(name)


class Plain(torch.nn.Module):
    torchdynamo_force_dynamic = False

    @property
    def scale(self):
        return 0.5


watched = Watched()
plain = Plain()


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    return x * watched.scale


@fix("rewrite", "dropped")
def fixed(x):
    """A property for the one attribute that needs code leaves all others alone and is traced."""
    return x * plain.scale

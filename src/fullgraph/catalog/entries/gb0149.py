"""A function under `torch.vmap` (or `grad`, `jvp`) contains something that Dynamo cannot trace. The
transform then runs in eager, and what it calls cannot be compiled inside of it either.
"""

import torch

from fullgraph.catalog.kit import fix

# What is met first, with fullgraph=True alone, is the print.
BY_DEFAULT = True
COMPILE = {"backend": "aot_eager"}


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    def normalize(row):
        print("normalizing", row.shape)
        return row / row.norm()

    return torch.vmap(normalize)(x)


@fix("rewrite", "dropped")
def fixed(x):
    """Without the print the transform and the function below it are traced together, and there is
    nothing left to compile inside of a transform that runs."""

    def normalize(row):
        return row / row.norm()

    return torch.vmap(normalize)(x)

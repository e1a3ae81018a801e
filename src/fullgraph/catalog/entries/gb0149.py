"""A function under `torch.vmap` (or `grad`, `jvp`) contains something that Dynamo cannot trace. The
transform then runs in eager, and what it calls cannot be compiled inside it either.
"""

import torch

from fullgraph.catalog.fix_decorator import fix

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


def announce(x):
    print("normalizing", x.shape[1:])
    return x


@fix("move", "exact", before=announce)
def fixed(x):
    """vmap calls the function once, for all rows, so the message can come before. Without it the
    transform and the function are traced together, and nothing is left to compile inside."""

    def normalize(row):
        return row / row.norm()

    return torch.vmap(normalize)(x)

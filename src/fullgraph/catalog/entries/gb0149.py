"""A function under `torch.vmap` (or `grad`, `jvp`) contains code that Dynamo cannot trace. The
transform then runs in eager mode, and Dynamo cannot compile the functions it calls either.
"""

import torch

from fullgraph.catalog.fix_decorator import fix

# With fullgraph=True torch reports the print instead.
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
    """vmap calls the function once for all rows, so the caller can print the message before. Dynamo
    then traces the transform and the function together.
    """

    def normalize(row):
        return row / row.norm()

    return torch.vmap(normalize)(x)

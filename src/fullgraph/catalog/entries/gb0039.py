"""A helper is called with a string, a number or an object that differs on each call. Every new
value recompiles, until Dynamo reaches its recompile limit and runs the rest in eager mode.
"""

import torch

from fullgraph.catalog.fix_decorator import fix

BY_DEFAULT = True
# The default is eight; a lower limit needs fewer calls.
CONFIG = {"recompile_limit": 2}

NAMES = ("query", "key", "value", "output")
SCALES = {name: 1.0 + index for index, name in enumerate(NAMES)}


def inputs():
    return torch.randn(4, 8)


def project(x, name):
    return x * SCALES[name]


def breaks(x):
    outputs = []
    for name in NAMES:
        print("projecting", name)  # breaks the loop, so each call below compiles separately
        outputs.append(project(x, name))
    return outputs


def announce(x):
    for name in NAMES:
        print("projecting", name)
    return x


@fix("move", "exact", before=announce)
def fixed(x):
    """Nothing breaks the loop, so it is unrolled into one graph. Each name is a constant there, and
    nothing recompiles.
    """
    return [project(x, name) for name in NAMES]

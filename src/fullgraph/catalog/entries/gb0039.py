"""A helper is called with a string, a number or an object that is different each time. Every new
value is compiled anew, until Dynamo has had enough and leaves the rest to eager.
"""

import torch

from fullgraph.catalog.fix_decorator import fix

BY_DEFAULT = True
# Eight by default; a smaller number shows the same with fewer calls.
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
        print("projecting", name)  # it breaks the loop, so each call below is compiled by itself
        outputs.append(project(x, name))
    return outputs


def announce(x):
    for name in NAMES:
        print("projecting", name)
    return x


@fix("move", "exact", before=announce)
def fixed(x):
    """Nothing breaks the loop any more: it is unrolled into one graph, in which each name is a
    constant, and nothing is compiled twice."""
    return [project(x, name) for name in NAMES]

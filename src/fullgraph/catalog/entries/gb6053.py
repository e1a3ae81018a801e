"""A read-only view of a configuration, a `MappingProxyType`, is formatted with `repr()` for a
message or a key. Dynamo can read such an object, but cannot compute its repr.
"""

from types import MappingProxyType

import torch

from fullgraph.catalog.fix_decorator import fix

DEFAULTS = MappingProxyType({"scale": 2.0, "shift": 1.0})


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    return x * DEFAULTS["scale"] + DEFAULTS["shift"], f"used {DEFAULTS!r}"


DESCRIPTION = f"used {DEFAULTS!r}"


@fix("move", "exact")
def fixed(x):
    """The mapping does not change, so its string is made once, outside, and is a constant."""
    return x * DEFAULTS["scale"] + DEFAULTS["shift"], DESCRIPTION


def add_description(result):
    return result, f"used {DEFAULTS!r}"


@fix("move", "exact", after=add_description)
def fixed_by_describing_afterwards(x):
    """The string does not depend on the computation, so the caller makes it."""
    return x * DEFAULTS["scale"] + DEFAULTS["shift"]

"""Options are handed around as a read-only `MappingProxyType`, and a dict is written to before an
option is read. The proxy might show that very dict.
"""

from types import MappingProxyType

import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return MappingProxyType({"scale": 0.5}), {}, torch.randn(4, 8)


def breaks(options, cache, x):
    cache["hidden"] = x.relu()
    return cache["hidden"] * options["scale"]


@fix("rewrite", "exact")
def fixed(options, cache, x):
    """Options are read first, when no dict has been changed yet."""
    scale = options["scale"]
    cache["hidden"] = x.relu()
    return cache["hidden"] * scale

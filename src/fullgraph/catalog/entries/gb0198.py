"""Options are passed as a read-only `MappingProxyType`, and a dict is mutated before an option is
read. The proxy might be a view of that dict.
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
    """The option is read first, before any dict is mutated."""
    scale = options["scale"]
    cache["hidden"] = x.relu()
    return cache["hidden"] * scale

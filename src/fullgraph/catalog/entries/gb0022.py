"""A package replaces its module by an object, as lazy or configurable packages do
(`sys.modules[__name__] = Settings()`). The compiled function imports it.
"""

import sys
import types

import torch

from fullgraph.catalog.fix_decorator import fix

sys.modules["fullgraph_catalog_gb0022"] = types.SimpleNamespace(scale=0.5)

import fullgraph_catalog_gb0022 as settings  # noqa: E402


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    import fullgraph_catalog_gb0022

    return x * fullgraph_catalog_gb0022.scale


@fix("move", "exact")
def fixed(x):
    """The import is at the top of the file, so the object is an ordinary global."""
    return x * settings.scale

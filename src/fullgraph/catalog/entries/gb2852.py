"""Settings in a `SimpleNamespace` (or a `Decimal`, a date) are formatted with `repr()` for a
message or a key. Their `__repr__` is written in C, and Dynamo cannot trace into C code.
"""

from types import SimpleNamespace

import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return torch.randn(4, 8), SimpleNamespace(scale=2.0, shift=1.0)


def breaks(x, settings):
    return x * settings.scale + settings.shift, f"scaled with {settings!r}"


def describe(x, settings):
    return x, settings, f"scaled with {settings!r}"


@fix("move", "exact", before=describe)
def fixed(x, settings, description):
    """The string does not depend on the computation, so the caller makes it before the call."""
    return x * settings.scale + settings.shift, description


@fix("rewrite", "exact")
def fixed_by_formatting_the_values(x, settings):
    """Dynamo formats numbers and strings during tracing, so the string is built from those."""
    description = f"scaled with namespace(scale={settings.scale}, shift={settings.shift})"
    return x * settings.scale + settings.shift, description

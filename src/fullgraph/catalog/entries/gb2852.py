"""Settings in a `SimpleNamespace` (or a `Decimal`, a date) are put into a message or a key with
`repr()`. Their `__repr__` is written in C, where Dynamo does not follow.
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
    """The text does not depend on the computation, so it is made before the compiled function."""
    return x * settings.scale + settings.shift, description


@fix("rewrite", "exact")
def fixed_by_formatting_the_values(x, settings):
    """Numbers and strings are formatted while tracing; the text is built from those."""
    description = f"scaled with namespace(scale={settings.scale}, shift={settings.shift})"
    return x * settings.scale + settings.shift, description

"""Model code reads layer numbers out of names with a compiled regular expression and walks over
`pattern.finditer(...)`. The call is done while tracing, but what it returns is an iterator.
"""

import re

import torch

from fullgraph.catalog.fix_decorator import fix

NUMBER = re.compile(r"\d+")


def inputs():
    return torch.randn(4, 8), "blocks.3.layers.2"


def breaks(x, name):
    for match in NUMBER.finditer(name):
        x = x * int(match.group())
    return x


@fix("rewrite", "exact")
def fixed(x, name):
    """findall returns a list of strings, which are constants like the name they come from."""
    for number in NUMBER.findall(name):
        x = x * int(number)
    return x

"""Model code reads layer numbers from names with a compiled regular expression and iterates over
`pattern.finditer(...)`. Dynamo evaluates the call during tracing, but cannot represent the iterator
it returns.
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
    """findall returns a list of strings, which are constants like the name."""
    for number in NUMBER.findall(name):
        x = x * int(number)
    return x

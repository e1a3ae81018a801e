"""A forward makes a pydantic dataclass of its options in each call. Pydantic's validator, written
in Rust, sets the fields, and Dynamo cannot trace into it.
"""

from dataclasses import dataclass

import torch
from pydantic.dataclasses import dataclass as pydantic_dataclass

from fullgraph.catalog.fix_decorator import fix


@pydantic_dataclass
class Options:
    scale: float
    shift: float = 0.0


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    options = Options(scale=2.0)
    return x * options.scale + options.shift


@dataclass
class PlainOptions:
    scale: float
    shift: float = 0.0


@fix("rewrite", "exact")
def fixed(x):
    """Dynamo traces a dataclass of the standard library, which does not validate its fields."""
    options = PlainOptions(scale=2.0)
    return x * options.scale + options.shift


def validate(x):
    return x, Options(scale=2.0)


@fix("move", "exact", before=validate)
def fixed_by_passing_it_in(x, options):
    """The caller makes and validates the object, and the compiled function only reads it."""
    return x * options.scale + options.shift

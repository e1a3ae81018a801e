"""A forward gathers its options in a pydantic dataclass and makes one for each call. Pydantic's
validator, written in Rust, fills the fields, and Dynamo cannot follow it.
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
    """A dataclass of the standard library is traced; it does not validate its fields."""
    options = PlainOptions(scale=2.0)
    return x * options.scale + options.shift


def validate(x):
    return x, Options(scale=2.0)


@fix("move", "exact", before=validate)
def fixed_by_passing_it_in(x, options):
    """Made and validated before the compiled function, the object is only read in there."""
    return x * options.scale + options.shift

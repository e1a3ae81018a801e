"""Objects from a C++ or Rust extension are used as keys, here the schema of an operator. Their hash
is compiled code that Dynamo can neither trace nor safely run.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return torch.randn(4, 8), torch.ops.aten.mm.default._schema


def breaks(x, schema):
    costs = {schema: 2.0}
    return x / costs[schema]


def take_name(x, schema):
    return x, schema.name


@fix("rewrite", "exact", before=take_name)
def fixed(x, name):
    """A name or a number of the object is a key that Dynamo can hash."""
    costs = {name: 2.0}
    return x / costs[name]


def look_up(x, schema):
    costs = {schema: 2.0}
    return x, costs[schema]


@fix("move", "exact", before=look_up)
def fixed_by_looking_it_up_before(x, cost):
    """The caller does the lookup in eager mode and passes the result."""
    return x / cost

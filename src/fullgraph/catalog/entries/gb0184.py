"""An object has a `__getattribute__` that allows only its own attributes, and is converted to a
string for a message or a key. Python looks up `__str__` on the class, but Dynamo looks it up on the
object.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


class Options:
    def __init__(self):
        self.name = "encoder"

    def __getattribute__(self, name):
        if name.startswith("__") and name != "__dict__" and name != "__class__":
            raise AttributeError(name)
        return object.__getattribute__(self, name)

    def __str__(self):
        return self.name


def inputs():
    return Options(), torch.randn(4, 8)


def breaks(options, x):
    return {str(options): x.relu()}


def name_of(options, x):
    return str(options), x


@fix("move", "exact", before=name_of)
def fixed(name, x):
    """The caller converts the object to a string and passes the string."""
    return {name: x.relu()}

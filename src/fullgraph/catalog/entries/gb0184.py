"""An object guards its attributes with a `__getattribute__` that knows only its own, and is turned
into a string for a message or a key. Python takes `str` from the class, but Dynamo asks the object.
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
    """The caller turns the object into a string and passes that."""
    return {name: x.relu()}

"""Settings live on a class whose metaclass loads them on first use by a `__getattribute__` of its
own, and the model asks the class for them. Dynamo does not trace such lookups.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


class Watched(type):
    def __getattribute__(cls, name):
        # Where a real one would load a file or note what was read.
        return super().__getattribute__(name)


class Settings(metaclass=Watched):
    factor = 2.0

    @classmethod
    def scale(cls):
        return cls.factor / 4


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    return x * Settings.scale()


def read(x):
    return x, Settings.scale()


@fix("move", "exact", before=read)
def fixed(x, scale):
    """The settings are read before the compiled function, which gets the number."""
    return x * scale


class Lazy(type):
    def __getattr__(cls, name):
        # Only asked for what is not there yet: the place to load it.
        raise AttributeError(name)


class LazySettings(metaclass=Lazy):
    factor = 2.0

    @classmethod
    def scale(cls):
        return cls.factor / 4


@fix("rewrite", "exact")
def fixed_with_getattr(x):
    """A metaclass that loads lazily needs `__getattr__` only, which leaves the usual lookup as it
    is."""
    return x * LazySettings.scale()

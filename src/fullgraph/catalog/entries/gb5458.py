"""Settings are stored on a class whose metaclass loads them on first use with its own
`__getattribute__`, and the model reads them from the class. Dynamo does not trace such lookups.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


class Watched(type):
    def __getattribute__(cls, name):
        # Real code loads a file or records the access here.
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
    """The caller reads the settings before the call and passes the number."""
    return x * scale


class Lazy(type):
    def __getattr__(cls, name):
        # Called only for missing attributes: real code loads them here.
        raise AttributeError(name)


class LazySettings(metaclass=Lazy):
    factor = 2.0

    @classmethod
    def scale(cls):
        return cls.factor / 4


@fix("rewrite", "exact")
def fixed_with_getattr(x):
    """Lazy loading needs only `__getattr__` on the metaclass, which does not change the normal
    lookup.
    """
    return x * LazySettings.scale()

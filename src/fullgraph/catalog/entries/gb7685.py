"""Code reads an attribute of a class registered as opaque, and the class does not have it. It was
renamed, or only the instances have it.
"""

import torch
from torch._library.opaque_object import register_opaque_type
from torch._opaque_base import OpaqueBase

from fullgraph.catalog.fix_decorator import fix

EAGER_RAISES = True


class Sampler(OpaqueBase):
    temperature = 0.5


register_opaque_type(Sampler, typ="reference")


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    return torch.softmax(x / Sampler.temprature, dim=-1)


@fix("rewrite", "exact")
def fixed(x):
    """The class itself has an attribute with this name."""
    return torch.softmax(x / Sampler.temperature, dim=-1)

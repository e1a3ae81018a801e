"""A module overrides `__getattribute__`, to log or check reads, with code that cannot be traced.
This matters for modules whose code Dynamo does not trace: in strict torch.export, or with
`torchdynamo_force_dynamic = False`.
"""

import logging

import torch

from fullgraph.catalog.fix_decorator import fix

logger = logging.getLogger(__name__)


class Watched(torch.nn.Module):
    torchdynamo_force_dynamic = False

    def __getattribute__(self, name):
        if name == "scale":
            logger.debug("scale is read")
            return 0.5
        return super().__getattribute__(name)


class Plain(torch.nn.Module):
    torchdynamo_force_dynamic = False

    @property
    def scale(self):
        return 0.5


watched = Watched()
plain = Plain()


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    return x * watched.scale


@fix("rewrite", "dropped")
def fixed(x):
    """A property computes the one attribute that needs code, and Dynamo traces it. The log line is
    dropped.
    """
    return x * plain.scale

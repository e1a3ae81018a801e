"""A mixin deletes a cached value with `super().__delattr__(...)`, and the module that it belongs to
was marked as fixed, `torchdynamo_force_dynamic = False`.
"""

import torch

from fullgraph.catalog.kit import fix


class Cache:
    def drop(self):
        super().__delattr__("cached")


class Fixed(torch.nn.Module, Cache):
    torchdynamo_force_dynamic = False

    def forward(self, x):
        self.drop()
        return x.relu()


class Plain(torch.nn.Module, Cache):
    def forward(self, x):
        self.drop()
        return x.relu()


FIXED = Fixed()
PLAIN = Plain()


def inputs():
    FIXED.cached = PLAIN.cached = 1
    return torch.randn(4, 8)


def breaks(x):
    return FIXED(x)


@fix("rewrite", "exact")
def fixed(x):
    """Without the mark Dynamo keeps track of the module's attributes, and may delete one."""
    return PLAIN(x)

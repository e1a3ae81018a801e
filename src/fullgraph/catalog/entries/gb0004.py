"""A mixin deletes a cached value with `super().__delattr__(...)`, and the module that it belongs to
was declared static for Dynamo, `torchdynamo_force_dynamic = False`.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


class DropsCache:
    def drop_cache(self):
        super().__delattr__("cached_mask")


class Encoder(torch.nn.Module, DropsCache):
    def forward(self, x):
        self.drop_cache()
        return x.relu()


class StaticEncoder(Encoder):
    torchdynamo_force_dynamic = False


encoder = Encoder()
static_encoder = StaticEncoder()


def inputs():
    encoder.cached_mask = static_encoder.cached_mask = None
    return torch.randn(4, 8)


def breaks(x):
    return static_encoder(x)


@fix("rewrite", "exact")
def fixed(x):
    """Without the mark Dynamo keeps track of the module's attributes, and may delete one."""
    return encoder(x)

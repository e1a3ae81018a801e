"""A mixin deletes a cached value with `super().__delattr__(...)`. Its module is declared static for
Dynamo with `torchdynamo_force_dynamic = False`.
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
    """Without `torchdynamo_force_dynamic` Dynamo tracks the attributes of the module and can delete
    one.
    """
    return encoder(x)

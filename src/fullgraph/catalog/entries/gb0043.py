"""`only_allow_pt2_compliant_ops` is set, so graphs may contain only operators that promise to work
under torch.compile. The model uses an older custom operator without that promise.
"""

import torch

from fullgraph.catalog.fix_decorator import fix

CONFIG = {"only_allow_pt2_compliant_ops": True}

torch.library.define("fullgraph_catalog::gb0043", "(Tensor x, float bound) -> Tensor")


@torch.library.impl("fullgraph_catalog::gb0043", "CompositeExplicitAutograd")
def _(x, bound):
    return x.clamp(-bound, bound)


@torch.library.register_fake("fullgraph_catalog::gb0043")
def _(x, bound):
    return torch.empty_like(x)


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    return torch.ops.fullgraph_catalog.gb0043(x, 0.5) + 1


@torch.library.custom_op("fullgraph_catalog::gb0043_compliant", mutates_args=())
def clip(x: torch.Tensor, bound: float) -> torch.Tensor:
    return x.clamp(-bound, bound)


@clip.register_fake
def _(x, bound):
    return torch.empty_like(x)


@fix("rewrite", "exact", only_allow_pt2_compliant_ops=True)
def fixed(x):
    """Operators made by `torch.library.custom_op` have the tag. For an operator made by `define`,
    pass `tags=torch.Tag.pt2_compliant_tag` after `torch.library.opcheck` passes.
    """
    return clip(x, 0.5) + 1

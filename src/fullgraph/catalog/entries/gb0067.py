"""A checkpointed block also records a statistic: it appends to a list, or sets an attribute of the
module. Dynamo traces the block as a separate graph, which may only return tensors.
"""

import torch
from torch.utils.checkpoint import checkpoint

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return torch.randn(4, 8, requires_grad=True), []


def breaks(x, norms):
    def block(h):
        h = torch.relu(h) * 2
        norms.append(h.detach().norm())
        return h

    return checkpoint(block, x, use_reentrant=False)


@fix("rewrite", "dropped")
def fixed(x, norms):
    """The block returns the statistic, and the caller records it outside the block. It is then
    recorded once. Eager mode records it again when the backward recomputes the block.
    """

    def block(h):
        h = torch.relu(h) * 2
        return h, h.detach().norm()

    out, norm = checkpoint(block, x, use_reentrant=False)
    norms.append(norm)
    return out


@fix("setting", "dropped", skip_fwd_side_effects_in_bwd_under_checkpoint=True)
def fixed_by_setting(x, norms):
    """Dynamo runs the side effect in the forward only. The backward drops it, while eager mode
    repeats it there.
    """

    def block(h):
        h = torch.relu(h) * 2
        norms.append(h.detach().norm())
        return h

    return checkpoint(block, x, use_reentrant=False)

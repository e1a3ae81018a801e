"""A checkpointed block also records a statistic: it appends to a list, or sets an attribute of the
module. The block is traced as a graph of its own, from which only tensors may come out.
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
    """The statistic is a result of the block like any other, and is recorded outside of it. It is
    then recorded once; eager records it again when the block is recomputed in the backward."""

    def block(h):
        h = torch.relu(h) * 2
        return h, h.detach().norm()

    out, norm = checkpoint(block, x, use_reentrant=False)
    norms.append(norm)
    return out


@fix("setting", "dropped", skip_fwd_side_effects_in_bwd_under_checkpoint=True)
def fixed_by_setting(x, norms):
    """Dynamo is allowed to run the side effect in the forward alone; in the backward, where eager
    would do it once more, it is left out."""

    def block(h):
        h = torch.relu(h) * 2
        norms.append(h.detach().norm())
        return h

    return checkpoint(block, x, use_reentrant=False)

"""A training step starts a collective with `async_op=True`, does something else and waits for the
handle. A compiled function knows no handles.
"""

import weakref

import torch
import torch.distributed as dist
from torch.testing._internal.distributed.fake_pg import FakeStore

from fullgraph.catalog.kit import fix


def inputs():
    gradients = torch.randn(4, 8)
    if not dist.is_initialized():
        # One process that stands in for two ranks; the group goes when these inputs go.
        dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=2)
        weakref.finalize(gradients, dist.destroy_process_group)
    return gradients


def breaks(gradients):
    work = dist.all_reduce(gradients, async_op=True)
    norm_before = gradients.norm()
    work.wait()
    return gradients / 2, norm_before


@fix("rewrite", "exact")
def fixed(gradients):
    """Without `async_op` the collective is captured as an operator that starts it and one that
    waits for it; the backend places the wait late and overlaps what lies between."""
    norm_before = gradients.norm()
    dist.all_reduce(gradients)
    return gradients / 2, norm_before

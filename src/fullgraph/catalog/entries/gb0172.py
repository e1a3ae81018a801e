"""A training step starts a collective with `async_op=True`, does something else and waits for the
handle. Dynamo does not trace collectives that give a handle back.
"""

import gc
import weakref

import torch
import torch.distributed as dist
from torch.testing._internal.distributed.fake_pg import FakeStore

from fullgraph.catalog.fix_decorator import fix


def inputs():
    gradients = torch.randn(4, 8)
    gc.collect()  # the group of an earlier example goes with its inputs
    if not dist.is_initialized():
        # One process that stands in for two ranks; the group goes when these inputs go.
        dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=2)
        weakref.finalize(gradients, dist.destroy_process_group)
    return gradients, torch.randn(4, 8)


def breaks(gradients, x):
    work = dist.all_reduce(gradients, async_op=True)
    hidden = torch.relu(x)
    work.wait()
    return gradients / 2, hidden


@fix("rewrite", "exact")
def fixed(gradients, x):
    """Without `async_op` the collective is captured as an operator that starts it and one that
    waits for it, and the backend may overlap it with what does not depend on it."""
    hidden = torch.relu(x)
    dist.all_reduce(gradients)
    return gradients / 2, hidden

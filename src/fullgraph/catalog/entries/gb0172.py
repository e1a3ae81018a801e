"""A training step starts a collective with `async_op=True`, does other work and waits for the
handle. Dynamo does not trace collectives that return a handle.
"""

import gc
import weakref

import torch
import torch.distributed as dist
from torch.testing._internal.distributed.fake_pg import FakeStore

from fullgraph.catalog.fix_decorator import fix


def inputs():
    gradients = torch.randn(4, 8)
    gc.collect()  # frees the inputs of an earlier example and with them its group
    if not dist.is_initialized():
        # One process stands in for two ranks; the group is destroyed with these inputs.
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
    """Without `async_op` Dynamo captures the collective as two operators: one starts it, one waits.
    The backend may overlap it with independent work.
    """
    hidden = torch.relu(x)
    dist.all_reduce(gradients)
    return gradients / 2, hidden

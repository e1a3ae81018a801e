"""A pipeline stage makes a `dist.P2POp` and then changes its rank, `send.peer = 2`, inside the
compiled step.
"""

import gc
import weakref

import torch
import torch.distributed as dist
from torch.testing._internal.distributed.fake_pg import FakeStore

from fullgraph.catalog.fix_decorator import fix

CONFIG = {"enable_p2p_compilation": True}


def inputs():
    hidden = torch.randn(4, 8)
    gc.collect()  # frees the inputs of an earlier example and with them its group
    if not dist.is_initialized():
        # One process stands in for three ranks; the group is destroyed with these inputs.
        dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=3)
        weakref.finalize(hidden, dist.destroy_process_group)
    return hidden, True


def breaks(hidden, skip_a_stage):
    send = dist.P2POp(dist.isend, hidden, peer=1)
    if skip_a_stage:
        send.peer = 2
    for work in dist.batch_isend_irecv([send]):
        work.wait()
    return torch.relu(hidden)


@fix("rewrite", "exact", enable_p2p_compilation=True)
def fixed(hidden, skip_a_stage):
    """The peer is chosen first and the operation is made once, so it is never mutated."""
    peer = 2 if skip_a_stage else 1
    send = dist.P2POp(dist.isend, hidden, peer=peer)
    for work in dist.batch_isend_irecv([send]):
        work.wait()
    return torch.relu(hidden)

"""A pipeline stage builds its sends and receives as `dist.P2POp` objects inside the compiled step.
Dynamo traces point-to-point communication only with enable_p2p_compilation.
"""

import gc
import weakref

import torch
import torch.distributed as dist
from torch.testing._internal.distributed.fake_pg import FakeStore

from fullgraph.catalog.fix_decorator import fix


def inputs():
    hidden = torch.randn(4, 8)
    gc.collect()  # frees the inputs of an earlier example and with them its group
    if not dist.is_initialized():
        # One process stands in for two ranks; the group is destroyed with these inputs.
        dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=2)
        weakref.finalize(hidden, dist.destroy_process_group)
    return hidden


def breaks(hidden):
    hidden = torch.relu(hidden)
    send = dist.P2POp(dist.isend, hidden, peer=1)
    for work in dist.batch_isend_irecv([send]):
        work.wait()
    return hidden + 1


@fix("setting", "exact", enable_p2p_compilation=True)
def fixed(hidden):
    """With the setting (TORCHDYNAMO_ENABLE_P2P_COMPILATION=1) the batch of sends and receives
    becomes one operator in the graph.
    """
    hidden = torch.relu(hidden)
    send = dist.P2POp(dist.isend, hidden, peer=1)
    for work in dist.batch_isend_irecv([send]):
        work.wait()
    return hidden + 1


def send_on(hidden):
    send = dist.P2POp(dist.isend, hidden, peer=1)
    for work in dist.batch_isend_irecv([send]):
        work.wait()
    return hidden + 1


@fix("move", "exact", after=send_on)
def fixed_by_sending_afterwards(hidden):
    """The compiled function computes, and the schedule of the stage communicates in eager mode."""
    return torch.relu(hidden)

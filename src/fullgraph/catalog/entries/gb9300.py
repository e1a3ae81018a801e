"""A pipeline step gets its list of `dist.P2POp` from the schedule and runs it with
`dist.batch_isend_irecv` inside the compiled function.
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
    return hidden, [dist.P2POp(dist.isend, hidden, peer=1)]


def breaks(hidden, operations):
    for work in dist.batch_isend_irecv(operations):
        work.wait()
    return torch.relu(hidden) + 1


@fix("setting", "exact", enable_p2p_compilation=True)
def fixed(hidden, operations):
    """With the setting (TORCHDYNAMO_ENABLE_P2P_COMPILATION=1) the batch becomes one operator in the
    graph.
    """
    for work in dist.batch_isend_irecv(operations):
        work.wait()
    return torch.relu(hidden) + 1


def communicate(hidden, operations):
    for work in dist.batch_isend_irecv(operations):
        work.wait()
    return hidden


@fix("move", "exact", before=communicate)
def fixed_by_communicating_first(hidden):
    """The schedule communicates in eager mode, and the compiled function only computes."""
    return torch.relu(hidden) + 1

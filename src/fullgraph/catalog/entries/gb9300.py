"""The step of a pipeline gets its list of `dist.P2POp` from the schedule and runs it with
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
    gc.collect()  # the group of an earlier example goes with its inputs
    if not dist.is_initialized():
        # One process that stands in for two ranks; the group goes when these inputs go.
        dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=2)
        weakref.finalize(hidden, dist.destroy_process_group)
    return hidden, [dist.P2POp(dist.isend, hidden, peer=1)]


def breaks(hidden, operations):
    for work in dist.batch_isend_irecv(operations):
        work.wait()
    return torch.relu(hidden) + 1


@fix("setting", "exact", enable_p2p_compilation=True)
def fixed(hidden, operations):
    """With the setting (TORCHDYNAMO_ENABLE_P2P_COMPILATION=1) the batch becomes one operator in
    the graph."""
    for work in dist.batch_isend_irecv(operations):
        work.wait()
    return torch.relu(hidden) + 1


def communicate(hidden, operations):
    for work in dist.batch_isend_irecv(operations):
        work.wait()
    return hidden


@fix("move", "exact", before=communicate)
def fixed_by_communicating_first(hidden):
    """The schedule, in eager, communicates; the compiled function only computes."""
    return torch.relu(hidden) + 1

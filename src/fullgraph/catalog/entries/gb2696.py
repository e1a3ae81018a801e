"""A pipeline stage hands its activations to the next rank with `dist.isend` inside the compiled
step. Dynamo traces point-to-point communication only if it is told to.
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
    return hidden


def breaks(hidden):
    hidden = torch.relu(hidden)
    dist.isend(hidden, dst=1).wait()
    return hidden


@fix("setting", "exact", enable_p2p_compilation=True)
def fixed(hidden):
    """With the setting (TORCHDYNAMO_ENABLE_P2P_COMPILATION=1) the send becomes an operator in the
    graph, and its handle one that waits."""
    hidden = torch.relu(hidden)
    dist.isend(hidden, dst=1).wait()
    return hidden


def send_on(hidden):
    dist.isend(hidden, dst=1).wait()
    return hidden


@fix("move", "exact", after=send_on)
def fixed_by_sending_afterwards(hidden):
    """The compiled function computes; the stage's schedule, in eager, communicates."""
    return torch.relu(hidden)

"""A model is wrapped in `FullyShardedDataParallel` with its default `use_orig_params=False`, and
the training step is compiled as a whole.
"""

import gc
import warnings
import weakref
from dataclasses import dataclass, field

import torch
import torch.distributed as dist
from torch.distributed.fsdp import FullyShardedDataParallel
from torch.testing._internal.distributed.fake_pg import FakeStore

INSTEAD = (
    "Wrap with use_orig_params=True, or preferably with fully_shard, so that Dynamo sees the "
    "parameters themselves. The hooks that gather and free parameters stay outside the graph in "
    "both cases. Therefore compile each block with block.compile() before wrapping it, which gives "
    "one graph per block."
)


@dataclass
class Trainer:
    model: torch.nn.Module = field(compare=False)


def inputs():
    x = torch.randn(4, 8)
    gc.collect()  # frees the inputs of an earlier example and with them its group
    if not dist.is_initialized():
        # One process stands in for two ranks; the group is destroyed with these inputs.
        dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=2)
        weakref.finalize(x, dist.destroy_process_group)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = FullyShardedDataParallel(torch.nn.Linear(8, 8), device_id=torch.device("cpu"))
    return Trainer(model), x


def breaks(trainer, x):
    return torch.relu(trainer.model(x)).sum()

"""Run a policy of tensordict modules, with a batch whose size depends on the data."""

import torch
from tensordict import TensorDict
from tensordict.nn import TensorDictModule, TensorDictSequential

torch.manual_seed(0)
policy = TensorDictSequential(
    TensorDictModule(torch.nn.Linear(4, 8), in_keys=["observation"], out_keys=["hidden"]),
    TensorDictModule(torch.nn.Tanh(), in_keys=["hidden"], out_keys=["hidden"]),
    TensorDictModule(torch.nn.Linear(8, 2), in_keys=["hidden"], out_keys=["action"]),
)


@torch.compile(backend="eager")
def act(batch):
    batch = policy(batch)
    kept = batch[batch["action"].sum(-1) > 0]
    return kept["action"].sum() + batch["hidden"].mean()


batch = TensorDict({"observation": torch.randn(6, 4)}, batch_size=[6])
print(f"{act(batch).item():.4f}")

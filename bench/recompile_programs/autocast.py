"""Mixed precision that is on for training steps and off for validation.

more_calls = ["run([False, True, True])"]

[[groups]]
kind = "autocast"
place = "torch"
values = ["*", "*"]
called_at = "outputs.append(predict(batch))"
recompiles = 1
calls = { total = 6, eager = 0 }
bounded = true
remedy = "none"
"""

import torch
from torch import nn

torch.manual_seed(0)
network = nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.Linear(16, 2)).requires_grad_(False)


@torch.compile(backend="eager")
def predict(batch):
    return network(batch).float().softmax(-1)


def run(steps):
    outputs = []
    for mixed in steps:
        batch = torch.randn(4, 8)
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=mixed):
            outputs.append(predict(batch))
    return outputs


run([True, True, False, True, True, False])

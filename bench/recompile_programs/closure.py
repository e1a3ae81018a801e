"""A loss that reads the current weight of its penalty from the function around it.

more_calls = ["train([40, 2, 5])"]

[[groups]]
kind = "int"
place = "closure"
name = "weight"
values = ["2", "4", "8", "16", "32"]
called_at = "losses.append(penalized(batch))"
written_at = "weight = value"
recompiles = 4
calls = { total = 6, eager = 0 }
bounded = false
remedy = "verified"
"""

import torch


def train(weights):
    weight = 0

    @torch.compile(backend="eager", dynamic=False)
    def penalized(batch):
        return batch.square().mean() + batch.abs().sum() / weight

    losses = []
    for value in weights:
        weight = value
        batch = torch.randn(4, 8)
        losses.append(penalized(batch))
    return losses


torch.manual_seed(0)
train([2, 4, 8, 16, 32, 2])

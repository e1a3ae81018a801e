"""A script that keeps its epoch in a global, which the loss reads.

more_calls = ["train([2, 30, 1])"]

[[groups]]
kind = "int"
place = "global"
name = "EPOCH"
values = ["1", "2", "3", "4", "5", "6"]
called_at = "losses.append(loss(batch))"
written_at = "EPOCH = epoch"
recompiles = 5
calls = { total = 6, eager = 0 }
bounded = false
remedy = "verified"
"""

import torch

EPOCH = 0


@torch.compile(backend="eager")
def loss(batch):
    return (batch.square() * EPOCH).mean()


def train(epochs):
    global EPOCH
    losses = []
    for epoch in epochs:
        EPOCH = epoch
        batch = torch.randn(4, 8)
        losses.append(loss(batch))
    return losses


torch.manual_seed(0)
train([1, 2, 3, 4, 5, 6])

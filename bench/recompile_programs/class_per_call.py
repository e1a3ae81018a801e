"""Batches in a named tuple whose class is created again for each batch.

more_calls = ["train(3)"]

[[groups]]
kind = "type"
place = "argument"
name = "batch"
values = ["*", "*", "*", "*", "*", "*"]
called_at = "losses.append(loss(batch))"
bound_at = "batch = collate(torch.randn(4, 8), torch.randn(4))"
recompiles = 5
calls = { total = 6, eager = 0 }
bounded = false
remedy = "verified"
"""

from collections import namedtuple

import torch

torch.manual_seed(0)
weight = torch.randn(8)


def collate(inputs, targets):
    Batch = namedtuple("Batch", ["inputs", "targets"])
    return Batch(inputs, targets)


@torch.compile(backend="eager")
def loss(batch):
    return (batch.inputs @ weight - batch.targets).square().mean()


def train(steps):
    losses = []
    for _ in range(steps):
        batch = collate(torch.randn(4, 8), torch.randn(4))
        losses.append(loss(batch))
    return losses


train(6)

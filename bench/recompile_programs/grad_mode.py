"""A training loop that is warmed up under no_grad, so that the first compile is never used again.

more_calls = ["train(4)"]

[[groups]]
kind = "grad_mode"
place = "torch"
values = ["False", "True"]
called_at = "return model(batch).square().mean()"
recompiles = 1
calls = { total = 7, eager = 0 }
remedy = "verified"
"""

import torch
from torch import nn

torch.manual_seed(0)
network = nn.Linear(8, 8)


@torch.compile(backend="eager")
def model(batch):
    return network(batch).relu() + batch


def compute_loss(batch):
    return model(batch).square().mean()


def train(steps):
    optimizer = torch.optim.SGD(network.parameters(), lr=0.1)
    losses = []
    for _ in range(steps):
        loss = compute_loss(torch.randn(4, 8))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return losses


with torch.no_grad():
    compute_loss(torch.zeros(4, 8))
train(6)

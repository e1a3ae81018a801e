"""A module that counts its calls in forward, for a warm-up of its output.

more_calls = ["train(3)"]

[[groups]]
kind = "int"
place = "attribute"
name = "self.steps"
values = ["0", "1", "2", "3", "4", "5", "6", "7", "8"]
called_at = "losses.append(model(batch).mean())"
written_at = "self.steps += 1"
recompiles = 7
refused = 1
limit = "recompile_limit"
calls = { total = 12, eager = 4, first = 9 }
bounded = false
remedy = "verified"
"""

import torch
from torch import nn


class WarmUp(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 8)
        self.steps = 0

    def forward(self, batch):
        self.steps += 1
        return self.linear(batch) * (self.steps / 100)


torch.manual_seed(0)
model = torch.compile(WarmUp(), backend="eager")


def train(steps):
    losses = []
    for _ in range(steps):
        batch = torch.randn(4, 8)
        losses.append(model(batch).mean())
    return losses


train(12)

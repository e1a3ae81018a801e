"""Curriculum learning: the training loop widens the window of a module after each epoch.

more_calls = ["train([3, 8, 1])"]

[[groups]]
kind = "int"
place = "attribute"
name = "self.window"
values = ["2", "3", "4", "5", "6"]
called_at = "losses.append(compiled(sequence).mean())"
written_at = "model.window = window"
recompiles = 4
calls = { total = 10, eager = 0 }
bounded = false
remedy = "verified"
"""

import torch
from torch import nn


class Smoother(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(6))
        self.window = 2

    def forward(self, sequence):
        total = sequence.cumsum(0)
        return (total / self.window).tanh() * self.scale


torch.manual_seed(0)
model = Smoother()
compiled = torch.compile(model, backend="eager")


def train(windows):
    losses = []
    for window in windows:
        model.window = window
        for _ in range(2):
            sequence = torch.randn(10, 6)
            losses.append(compiled(sequence).mean())
    return losses


train([2, 3, 4, 5, 6])

"""Ten layers that are compiled one by one; each knows its number.

more_calls = ["encode(2)"]

[[groups]]
kind = "int"
place = "attribute"
name = "self.number"
values = ["1", "2", "3", "4", "5", "6", "7", "8", "9"]
called_at = "hidden = layer(hidden)"
written_at = "self.number = number"
recompiles = 7
refused = 1
limit = "recompile_limit"
calls = { total = 30, eager = 6, first = [9, 1] }
bounded = false
remedy = "verified"
"""

import torch
from torch import nn


class Layer(nn.Module):
    def __init__(self, number):
        super().__init__()
        self.number = number
        self.linear = nn.Linear(8, 8)

    def forward(self, hidden):
        return hidden + self.linear(hidden) / self.number


torch.manual_seed(0)
layers = nn.ModuleList(Layer(number) for number in range(1, 11)).requires_grad_(False)
for layer in layers:
    layer.compile(backend="eager")


def encode(batches):
    outputs = []
    for _ in range(batches):
        hidden = torch.randn(4, 8)
        for layer in layers:
            hidden = layer(hidden)
        outputs.append(hidden)
    return outputs


encode(3)

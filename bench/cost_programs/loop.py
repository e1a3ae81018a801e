"""A model that checks its state after each of four layers, in a loop.

[[causes]]
name = "inspect_state"
line = "inspect_state(x)"
ms = 4.0
"""

import torch
from _work import left_out, spin, time_calls
from torch import nn

WITHOUT = left_out()


@torch.compiler.disable
def inspect_state(x):
    spin(1.0)


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(64, 64)

    def forward(self, x):
        return x + self.linear(x).relu()


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(Layer() for _ in range(4))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
            if "inspect_state" not in WITHOUT:
                inspect_state(x)
        return x.mean(-1)


torch.manual_seed(0)
model = torch.compile(Encoder().eval(), backend="eager")
batch = torch.randn(16, 64)
with torch.no_grad():
    time_calls(lambda: model(batch), calls=60)

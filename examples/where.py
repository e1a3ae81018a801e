"""A model of repeated blocks, with a graph break after them: where should it be compiled?

fullgraph where examples/where.py
"""

import torch
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(1))
        self.shift = nn.Parameter(torch.zeros(1))

    def forward(self, x):
        y = x * self.scale + self.shift
        y = y * torch.sigmoid(1.7 * y) + 0.1 * torch.tanh(y)
        return x + 0.5 * y / (1 + y.abs())


class Model(nn.Module):
    def __init__(self, depth=6):
        super().__init__()
        self.blocks = nn.ModuleList(Block() for _ in range(depth))
        self.head = nn.Linear(512, 10)

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        print("mean", round(x.mean().item(), 3))
        return self.head(x)


torch.manual_seed(0)
model = Model()
model = torch.compile(model)
with torch.no_grad():
    for _ in range(50):
        model(torch.randn(512, 512))

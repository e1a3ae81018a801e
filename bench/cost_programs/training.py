"""A training step with 5 ms of eager work in forward and 3 ms in backward.

[[causes]]
name = "sample_negatives"
line = "sample_negatives(hidden)"
ms = 5.0

[[causes]]
name = "clip"
line = "hidden = ClippedGradient.apply(hidden)"
ms = 3.0
where = "backward"
"""

import torch
from _work import left_out, spin, time_calls
from torch import nn

WITHOUT = left_out()


class ClippedGradient(torch.autograd.Function):
    @staticmethod
    @torch.compiler.disable
    def forward(ctx, x):
        return x.view_as(x)

    @staticmethod
    @torch.compiler.disable
    def backward(ctx, gradient):
        spin(3.0)
        return gradient.clamp(-1, 1)


@torch.compiler.disable
def sample_negatives(hidden):
    spin(5.0)


class Matcher(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(64, 64)
        self.second = nn.Linear(64, 64)

    def forward(self, x):
        hidden = self.first(x).relu()
        if "sample_negatives" not in WITHOUT:
            sample_negatives(hidden)
        if "clip" not in WITHOUT:
            hidden = ClippedGradient.apply(hidden)
        return self.second(hidden)


torch.manual_seed(0)
model = Matcher()
compiled = torch.compile(model, backend="aot_eager")
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
batch = torch.randn(16, 64)


def step():
    optimizer.zero_grad()
    compiled(batch).square().mean().backward()
    optimizer.step()


time_calls(step, calls=40)

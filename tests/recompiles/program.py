"""A program with a group of recompiles per kind of remedy."""

PROGRAM = """\
import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)
        self.step = 0

    def forward(self, x):
        self.step += 1
        return self.linear(x) * self.step


def scale(x, factor):
    return x * factor


def pick(x, name):
    return getattr(torch, name)(x)


model = torch.compile(Model(), backend="eager")
scaled = torch.compile(scale, backend="eager", dynamic=False)
picked = torch.compile(pick, backend="eager")

for factor in (2.5, 3.5, 4.5, 5.5):
    x = torch.randn(3, 4)
    y = model(x)
    scaled(y, factor)
for name in ("relu", "tanh", "sigmoid", "exp", "sin", "cos", "abs", "neg", "square", "erf"):
    picked(torch.ones(3), name)
for training in (True, False, True):
    torch.set_grad_enabled(training)
    scale_again = torch.compile(lambda x: x + 1, backend="eager")
"""

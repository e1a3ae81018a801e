"""Programs that `fixers/branch_to_where.py` must leave alone."""

from __future__ import annotations

REFUSES = {
    "a type that depends on the side": """
import torch

def f(x):
    if x.sum() > 100:
        x = x * 0.5
    return x

def inputs():
    return (torch.arange(8),)
""",
    "truth values that become whole numbers": """
import torch

def f(x):
    y = x + 1 if x.sum() > 100 else x
    return y

def inputs():
    return (torch.tensor([True, False]),)
""",
    "a shape that depends on the side": """
import torch

def f(x, bias):
    if x.sum() > 0:
        x = x + bias
    return x

def inputs():
    return -torch.ones(3), torch.zeros(2, 3)
""",
    "a division that the test protects": """
import torch

def f(x):
    total = x.sum()
    if total > 0:
        x = x / total
    return x

def inputs():
    return (torch.ones(4, requires_grad=True),)
""",
    "a root of what may be negative": """
import torch

def f(x):
    y = torch.sqrt(x) if x.min() > 0 else x * 2.0
    return y

def inputs():
    return (torch.ones(4, requires_grad=True),)
""",
    "a factor that may be infinite": """
import torch

def f(x, weight):
    if torch.isfinite(x).all():
        y = x * weight
    else:
        y = weight * 1.0 + x * 0.0
    return y

def inputs():
    return torch.ones(4), torch.ones(4, requires_grad=True)
""",
    "an index that may be out of range": """
import torch

def f(x, n):
    if n.sum() < 4:
        y = x[n] + 1
    else:
        y = x[0] * 2
    return y

def inputs():
    return torch.ones(4), torch.tensor(3)
""",
    "something printed on one side": """
import torch

def f(x):
    if x.sum() > 0:
        print("positive")
        x = x + 1
    return x

def inputs():
    return (torch.ones(4),)
""",
    "written to in place afterwards": """
import torch

def f(x):
    y = x
    if x.sum() > 0:
        y = x * 2
    y += 1
    return y, x

def inputs():
    return (torch.ones(4),)
""",
    "random numbers on one side": """
import torch

def f(x):
    if x.sum() > 0:
        x = x + torch.rand_like(x)
    return x * torch.rand_like(x)

def inputs():
    return (-torch.ones(4),)
""",
    "state that is read later": """
import torch

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = 0

    def forward(self, x):
        if x.sum() > 0:
            self.calls = self.calls + 1
        return x * 2

f = Model()

def inputs():
    return (torch.ones(4),)
""",
    "a value that is kept as it is": """
import torch

def f(x, y):
    z = x or y
    return z + 1

def inputs():
    return torch.tensor(2.0), torch.tensor(3.0)
""",
    "a buffer whose old value a gradient needs": """
import torch

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("scale", torch.ones(4))

    def forward(self, x):
        y = x * self.scale
        if x.sum() > 1000:
            self.scale.mul_(0.5)
        return y

f = Model()

def inputs():
    return (torch.ones(4, requires_grad=True),)
""",
    "a mean that whole numbers do not have": """
import torch

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("average", torch.zeros(4))

    def forward(self, x):
        with torch.no_grad():
            if x.sum() > 100:
                self.average.add_(x.mean(0))
        return x * 2

f = Model()

def inputs():
    return (torch.ones(2, 4, dtype=torch.int64),)
""",
    "a root in front of the branch": """
import torch

def f(x):
    z = x.sqrt()
    if x.min() <= 0:
        z = x * 2.0
    return z

def inputs():
    return (torch.ones(4, requires_grad=True),)
""",
    "a number that Python goes on with": """
import torch

def f(x):
    width = 2.0 if x.sum() > 0 else 1.0
    return x.repeat(int(width))

def inputs():
    return (torch.ones(4),)
""",
    "a second test that needs the first": """
import torch

def f(x):
    if (x > 0).any() and x[x > 0].max() > 2:
        x = x + 1
    return x * 2

def inputs():
    return (-torch.ones(4),)
""",
}

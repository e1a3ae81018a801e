"""Programs that `fixers/branch_to_cond.py` must mend, and others that it must not."""

from __future__ import annotations

CHANGES = {
    "a division that the test protects": """
import torch

def f(x):
    norm = x.norm()
    if norm > 1:
        # on the unit sphere
        x = x / norm
    return x * 2

def inputs():
    return (torch.randn(4, 8, requires_grad=True),)

def more():
    yield (torch.zeros(4, 8, requires_grad=True),)
""",
    "one of two layers": """
import torch

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.small = torch.nn.Linear(8, 8)
        self.large = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.GELU())

    def forward(self, x):
        if x.abs().max() > 2:
            y = self.large(x)
        else:
            y = self.small(x)
        return y + x

GRADIENTS = False
f = Model()

def inputs():
    return (torch.randn(4, 8),)

def more():
    yield (torch.zeros(4, 8),)
""",
    "early return": """
import torch

def f(scores, mask):
    if not mask.any():
        return scores
    scores = scores.masked_fill(mask == 0, float("-inf"))
    # rows without any entry are left out
    weights = torch.softmax(scores, dim=-1)
    return weights / weights.sum(dim=-1, keepdim=True)

def inputs():
    return torch.randn(4, 8, requires_grad=True), torch.ones(8, dtype=torch.int64)

def more():
    yield torch.randn(4, 8, requires_grad=True), torch.zeros(8, dtype=torch.int64)
""",
    "several names": """
import torch

def f(x, y):
    if (x * y).sum() > 0:
        total = x.exp().sum(dim=-1, keepdim=True)
        x = x.exp() / total
        z = x.log()
    else:
        z = y.sqrt()
    return x, z

GRADIENTS = False

def inputs():
    return torch.rand(4, 8), torch.rand(4, 8)

def more():
    yield -torch.rand(4, 8), torch.rand(4, 8)
""",
    "a ternary": """
import torch

def f(x):
    y = torch.sqrt(x) if x.min() > 0 else x * 2.0
    return y + 1

def inputs():
    return (torch.rand(4) + 1,)

def more():
    yield (torch.rand(4) - 1,)
""",
    "only in training": """
import torch

class Model(torch.nn.Module):
    def forward(self, x):
        x = x.float()
        if self.training and not x.sum() > 0:
            x = torch.log1p(x * x)
        return x + 1

f = Model()

def inputs():
    return (torch.ones(4),)

def more():
    yield (-torch.ones(4),)
""",
}

REFUSES = {
    "dropout on one side": """
import torch
import torch.nn.functional as F

def f(x):
    if x.norm() > 1:
        x = F.dropout(x / x.norm(), 0.5)
    return x

def inputs():
    return (torch.ones(4, requires_grad=True),)
""",
    "a module that may draw numbers": """
import torch

class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)
        self.dropout = torch.nn.Dropout(0.5)

    def forward(self, x):
        return self.dropout(self.linear(x))

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.block = Block()

    def forward(self, x):
        if x.sum() > 0:
            x = self.block(x)
        return x

f = Model().eval()
GRADIENTS = False

def inputs():
    return (torch.ones(2, 4),)
""",
    "statistics that are kept": """
import torch

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = torch.nn.BatchNorm1d(4)

    def forward(self, x):
        if x.sum() > 0:
            x = self.norm(x)
        return x

f = Model().eval()
GRADIENTS = False

def inputs():
    return (torch.ones(2, 4),)
""",
    "an attribute that is set": """
import torch

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.last = None

    def forward(self, x):
        if x.sum() > 0:
            x = x / x.sum()
            self.last = x
        return x

f = Model()

def inputs():
    return (torch.ones(2, 4),)
""",
    "a list that grows": """
import torch

def f(x):
    kept = []
    if x.sum() > 0:
        kept.append(x / x.sum())
    return x, kept

def inputs():
    return (torch.ones(2, 4),)
""",
    "written to in place": """
import torch

def f(x):
    if x.sum() > 0:
        x /= x.sum()
    return x * 2

def inputs():
    return (torch.ones(2, 4),)
""",
    "written to in place afterwards": """
import torch

def f(x):
    y = x
    if x.sum() > 0:
        y = x / x.sum()
    y.add_(1)
    return y, x

def inputs():
    return (-torch.ones(2, 4),)
""",
    "a type that depends on the side": """
import torch

def f(x):
    if x.sum() > 0:
        x = x / x.sum()
    return x

def inputs():
    return (torch.arange(4),)
""",
    "a number on both sides": """
import torch

def f(x):
    if x.sum() > 0:
        n = 2
    else:
        n = 3
    return x.repeat(n)

def inputs():
    return (torch.ones(4),)
""",
    "nothing on one side": """
import torch

def f(x):
    if x.sum() > 0:
        return x / x.sum()
    return None

def inputs():
    return (torch.ones(4),)
""",
    "a shape that depends on the side": """
import torch

def f(x):
    y = x.exp().sum() if x.sum() > 0 else x.exp()
    return y + 1

def inputs():
    return (torch.ones(4),)
""",
}

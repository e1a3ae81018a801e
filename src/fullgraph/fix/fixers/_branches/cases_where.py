"""Programs that `fixers/branch_to_where.py` must mend."""

from __future__ import annotations

CHANGES = {
    "both sides bind the same name": """
import torch

def f(x):
    if x.sum() > 0:
        # up
        y = x + 1
    else:
        y = x - 1
    return y * 2

def inputs():
    return (torch.randn(4, 8, requires_grad=True),)

def more():
    yield (torch.full((4, 8), -1.0, requires_grad=True),)
""",
    "a value that is limited where it is too large": """
import torch

def f(x):
    x = x * 3.0
    if x.max() > 4:
        x = x.clamp(max=4)
    return x.sum(dim=-1)

def inputs():
    return (torch.randn(4, 8, requires_grad=True),)

def more():
    yield (torch.zeros(4, 8, requires_grad=True),)
    yield (torch.tensor([[float("nan"), 9.0, 1.0]]),)
""",
    "overflow in half precision": """
import torch

def f(hidden_states):
    if hidden_states.dtype == torch.float16 and (
        torch.isinf(hidden_states).any() or torch.isnan(hidden_states).any()
    ):
        clamp_value = torch.finfo(hidden_states.dtype).max - 1000
        hidden_states = torch.clamp(hidden_states, min=-clamp_value, max=clamp_value)
    return hidden_states + 1

def inputs():
    return (torch.randn(4, 8).half(),)

def more():
    yield (torch.full((4, 8), float("inf")).half(),)
    yield (torch.full((4, 8), float("inf")),)
""",
    "elif": """
import torch

def f(x):
    s = x.mean()
    if s > 1:
        y = x * 2
    elif s > 0:
        y = x + 2
    else:
        y = x
    return y + 1

def inputs():
    return (torch.randn(4, 8, requires_grad=True),)

def more():
    for shift in (-3.0, 0.5, 3.0):
        yield (torch.randn(4, 8) * 0.1 + shift,)
""",
    "early return": """
import torch

def f(x, scale: float = 2.0):
    x = torch.nn.functional.layer_norm(x, (8,))
    if not (x > 2).any():
        return torch.zeros_like(x)
    # the gate
    y = torch.sigmoid(x) * scale
    return y + x

GRADIENTS = False

def inputs():
    return (torch.randn(4, 8),)

def more():
    yield (torch.eye(8),)
""",
    "a ternary that returns": """
import torch

def f(x, y):
    return torch.sin(x) if y.any() else torch.cos(x)

def inputs():
    return torch.randn(3), torch.tensor([0, 1])

def more():
    yield torch.randn(3), torch.tensor([0, 0])
""",
    "a factor": """
import torch

def f(x):
    scale = 0.5 if x.abs().max() > 1 else 2.0
    return x * scale + 1

def inputs():
    return (torch.randn(4, 8, requires_grad=True),)

def more():
    yield (torch.zeros(4, 8, dtype=torch.float64),)
""",
    "two names, and a number that is read out": """
import torch

class Model(torch.nn.Module):
    def __init__(self, limit=0.1):
        super().__init__()
        self.limit = limit
        self.linear = torch.nn.Linear(8, 8)

    def forward(self, x):
        x = self.linear(x)
        gate = torch.sigmoid(x)
        if x.mean().item() > self.limit:
            x = x * 2
            gate = gate * 0.5
        return x * gate

f = Model()

def inputs():
    return (torch.randn(4, 8),)

def more():
    yield (torch.randn(4, 8) * 9,)
""",
    "a buffer that counts": """
import torch

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("seen", torch.zeros((), dtype=torch.int64))
        self.register_buffer("average", torch.zeros(8))
        self.norm = torch.nn.LayerNorm(8)

    def forward(self, x):
        x = self.norm(x)
        with torch.no_grad():
            if x.sum() > 0:
                self.seen += 1
            if self.seen > 0:
                self.average.mul_(0.9).add_(x.mean(0), alpha=0.1)
        return x + self.average

f = Model()

def inputs():
    return (torch.randn(4, 8),)

def more():
    yield (torch.ones(4, 8),)
""",
    "a masked store": """
import torch

def f(durations):
    if durations.sum() == 0:
        durations[durations.sum(dim=1).eq(0)] = 1
    return durations * 2

def inputs():
    return (torch.tensor([[1, 2], [0, 0]]),)

def more():
    yield (torch.zeros(2, 2, dtype=torch.int64),)
""",
    "only when training": """
import torch

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(8, 8)

    def forward(self, x):
        hidden = self.linear(x)
        if self.training and hidden.norm() > 3.0 and hidden.mean() < 0:
            hidden = hidden * 0.5
        return hidden + 1

f = Model()

def inputs():
    return (torch.randn(4, 8),)

def more():
    yield (torch.randn(4, 8) * 9,)
""",
}

"""Programs that `fixers/branch_where.py` must mend, and others that it must not."""

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

    def forward(self, x):
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

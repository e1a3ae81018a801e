"""Programs that `fixers/check_to_assert.py` must mend, and others that it must not."""

from __future__ import annotations

CHANGES = {
    "if not ok: raise": """
import torch

def f(mask, x):
    if not (mask.sum(dim=-1) > 0).all():
        # an empty row has no mean
        raise ValueError("every row needs an entry")
    return x * 2

def inputs():
    return torch.ones(2, 3), torch.randn(2, 3)

def more():
    yield torch.zeros(2, 3), torch.randn(2, 3)
""",
    "if bad.any(): raise": """
import torch

def f(x):
    y = x.log()
    if torch.isnan(y).any():
        raise FloatingPointError(f"not a number in {tuple(y.shape)}: {y.min()}")
    return y + 1

def inputs():
    return (torch.rand(4) + 1,)

def more():
    yield (-torch.ones(4),)
""",
    "a number that is read out": """
import torch

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.table = torch.nn.Embedding(10, 4)

    def forward(self, ids, check: bool = True):
        if check and ids.max().item() >= self.table.num_embeddings:
            largest = ids.max().item()
            raise IndexError(f"no entry {largest} in a table of {self.table.num_embeddings}")
        return self.table(ids)

f = Model()

def inputs():
    return (torch.tensor([1, 9]),)
""",
    "assert with a message that is made": """
import torch

def f(x):
    assert (x >= 0).all(), f"negative: {x.min().item():.2f}"
    return x.sqrt()

def inputs():
    return (torch.rand(4),)

def more():
    yield (-torch.rand(4),)
""",
    "a check in a helper": """
import torch

def require(condition, message):
    if not condition:
        raise ValueError(message)

def f(x, lengths):
    require(lengths.min() > 0, "empty sequence")
    require((lengths <= x.shape[0]).all(), f"longer than {x.shape[0]}")
    return x.sum() + lengths.sum()

def inputs():
    return torch.randn(5), torch.tensor([1, 5])

def more():
    yield torch.randn(5), torch.tensor([0, 5])
    yield torch.randn(5), torch.tensor([1, 6])
""",
    "values that must be close": """
import torch

def f(p):
    if not torch.allclose(p.sum(-1), torch.ones(2)):
        raise ValueError("no distribution")
    return p * 2

def inputs():
    return (torch.full((2, 4), 0.25),)

def more():
    yield (torch.ones(2, 4),)
""",
}

REFUSES = {
    "an exception that is caught": """
import torch

def f(x):
    try:
        if x.sum() > 0:
            raise ValueError("positive")
        y = x + 1
    except ValueError:
        y = x - 1
    return y

def inputs():
    return (torch.ones(4),)
""",
    "something else happens first": """
import torch

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.failed = False

    def forward(self, x):
        if x.sum() > 100:
            self.failed = True
            raise ValueError("too large")
        return x * 2

f = Model()

def inputs():
    return (torch.ones(4),)
""",
    "it does something, and raises sometimes": """
import torch

def f(x, strict: bool = False):
    if x.sum() > 0:
        if strict:
            raise ValueError("positive")
        x = x / 2
    return x

def inputs():
    return (torch.ones(4),)
""",
    "a loop ends by an exception": """
import torch

def f(x):
    for _ in range(3):
        if x.sum() > 100:
            raise StopIteration
        x = x * 2
    return x

def inputs():
    return (torch.ones(4),)
""",
    "a test that needs the one in front": """
import torch

def f(x, index):
    if (index < 4).all() and x[index].sum() > 100:
        raise ValueError("too large")
    return x * 2

def inputs():
    return torch.ones(4), torch.tensor([9])
""",
    "no check at all": """
import torch

def f(x):
    if x.sum() > 0:
        return x / x.sum()
    return x

def inputs():
    return (torch.ones(4),)
""",
    "else does something": """
import torch

def f(x):
    if x.sum() > 100:
        raise ValueError("too large")
    elif x.sum() > 50:
        x = x / 2
    return x

def inputs():
    return (torch.ones(4),)
""",
}

"""Programs that `fixers/item_check_to_torch_check.py` must mend, and others that it must not."""

from __future__ import annotations

CHANGES = {
    "a length that must fit": """
import torch

def f(x, lengths):
    longest = lengths.max().item()
    if longest > x.shape[1]:
        raise ValueError(f"{longest} steps, but only {x.shape[1]} are there")
    return x * longest

def inputs():
    return torch.randn(2, 5), torch.tensor([2, 4])

def more():
    yield torch.randn(2, 5), torch.tensor([2, 9])
""",
    "a size that must be in range": """
import torch

def f(x, counts):
    n = int(counts.sum())
    if n < 0 or n > 100:
        raise ValueError("out of range")
    return torch.ones(n).sum() + x

def inputs():
    return torch.randn(3), torch.tensor([7, 1])

def more():
    yield torch.randn(3), torch.tensor([100, 1])
""",
    "asserts, with and without words": """
import torch

def f(ids):
    top = ids.max().item()
    assert top < 100, f"id {top} is too large"
    assert not top < 0
    return ids * 2 + top

def inputs():
    return (torch.tensor([1, 2]),)

def more():
    yield (torch.tensor([1, 200]),)
""",
}

REFUSES = {
    "a branch that goes on": """
import torch

def f(x):
    top = x.max().item()
    if top > 3:
        x = x / 2
    return x * top

def inputs():
    return (torch.ones(4),)
""",
    "a check and a branch": """
import torch

def f(x):
    top = x.max().item()
    if top > 30:
        raise ValueError("too large")
    return x * top if top > 2 else x

def inputs():
    return (torch.ones(4),)
""",
    "a loop as long as the number says": """
import torch

def f(x, n):
    steps = n.item()
    while steps > 0:
        x = x + 1
        steps = steps - 1
    return x

def inputs():
    return torch.ones(4), torch.tensor(3)
""",
    "an exception that is caught": """
import torch

def f(x):
    top = x.max().item()
    try:
        if top > 3:
            raise ValueError("too large")
        y = x + top
    except ValueError:
        y = x - top
    return y

def inputs():
    return (torch.ones(4),)
""",
    "a number that is tried again": """
import torch

def f(x):
    top = x.max().item()
    if top > 3:
        raise ValueError("too large")
    top = top * 2
    return x * (top if top > 1 else 1)

def inputs():
    return (torch.ones(4),)
""",
    "a value that is kept as it is": """
import torch

def f(x):
    top = x.max().item()
    scale = top or 1.0
    return x / scale

def inputs():
    return (torch.ones(4),)
""",
}

"""One attention function for self-attention and for cross-attention.

more_calls = ["encode(3)"]

[[groups]]
kind = "aliasing"
place = "argument"
values = ["*", "*"]
called_at = "hidden = attend(hidden, memory)"
recompiles = 1
calls = { total = 8, eager = 0 }
bounded = true
remedy = "none"
"""

import torch


@torch.compile(backend="eager")
def attend(queries, memory):
    weights = (queries @ memory.transpose(-1, -2)).softmax(-1)
    return weights @ memory


def encode(layers):
    encoded = torch.randn(2, 6, 8)
    hidden = torch.randn(2, 6, 8)
    for _ in range(layers):
        for memory in (hidden, encoded):
            hidden = attend(hidden, memory)
    return hidden


torch.manual_seed(0)
encode(4)

"""Attention over a cache that grows by one entry per step; keys and values have the same length.

more_calls = ["generate(9)", "generate(2)"]

[[groups]]
kind = "size"
place = "argument"
name = ["keys", "values"]
dim = 1
values = ["4", "5", "6", "7", "8", "9"]
called_at = "query = attend(query, keys, values)"
bound_at = ["keys = torch.cat([keys, query], 1)", "values = torch.cat([values, query], 1)"]
recompiles = 5
calls = { total = 6, eager = 0 }
bounded = false
remedy = "verified"
"""

import torch


def attention(query, keys, values):
    weights = (query @ keys.transpose(1, 2)).softmax(-1)
    return weights @ values


torch.manual_seed(0)
attend = torch.compile(attention, backend="eager", dynamic=False)


def generate(steps):
    keys = torch.randn(2, 4, 8)
    values = torch.randn(2, 4, 8)
    query = torch.randn(2, 1, 8)
    outputs = []
    for _ in range(steps):
        query = attend(query, keys, values)
        outputs.append(query)
        keys = torch.cat([keys, query], 1)
        values = torch.cat([values, query], 1)
    return outputs


generate(6)

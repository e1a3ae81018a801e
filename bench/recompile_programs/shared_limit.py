"""Ten activations that come from one factory: each torch.compile counts towards the same limit.

more_calls = ["apply(2)"]

[[groups]]
kind = "str"
place = "closure"
name = "name"
values = ["relu", "tanh", "sigmoid", "exp", "sin", "cos", "abs", "neg", "square"]
called_at = "batch = activation(batch)"
recompiles = 7
refused = 1
limit = "recompile_limit"
calls = { total = 20, eager = 4, first = [9, 1] }
bounded = false
remedy = "verified"
"""

import torch

NAMES = ["relu", "tanh", "sigmoid", "exp", "sin", "cos", "abs", "neg", "square", "erf"]


def make_activation(name):
    def activate(batch):
        return getattr(torch, name)(batch) / 2

    return torch.compile(activate, backend="eager")


activations = [make_activation(name) for name in NAMES]


def apply(batches):
    outputs = []
    for _ in range(batches):
        batch = torch.randn(4, 8)
        for activation in activations:
            batch = activation(batch)
        outputs.append(batch)
    return outputs


torch.manual_seed(0)
apply(2)

"""A service with 200 recompiles: sizes, integers, strings and a counter, 50 of each.

The recompile limits are raised, as in programs whose authors wanted the warning to go away.
"""

import torch
from torch import nn

torch._dynamo.config.recompile_limit = 1000
torch._dynamo.config.accumulated_recompile_limit = 1000
VALUES = range(2, 53)


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(16, 32), nn.Linear(32, 16)

    def forward(self, x):
        return x + self.second(self.first(x).relu())


class Counted(Encoder):
    def __init__(self):
        super().__init__()
        self.calls = 2

    def forward(self, x):
        self.calls += 1
        return super().forward(x) / self.calls


torch.manual_seed(0)
sized = torch.compile(Encoder(), backend="eager", dynamic=False)
scaled_encoder, named_encoder = Encoder(), Encoder()
counted = torch.compile(Counted(), backend="eager")


@torch.compile(backend="eager", dynamic=False)
def scaled(x, factor):
    return scaled_encoder(x * factor)


@torch.compile(backend="eager")
def named(x, customer):
    return named_encoder(x) * len(customer)


@torch.no_grad()
def serve():
    batch = torch.randn(2, 8, 16)
    total = 0.0
    for value in VALUES:
        sequence = torch.randn(2, value, 16)
        total += float(sized(sequence).sum())
    for value in VALUES:
        total += float(scaled(batch, value).sum())
    for value in VALUES:
        customer = f"customer {value}"
        total += float(named(batch, customer).sum())
    for _ in VALUES:
        total += float(counted(batch).sum())
    return total


print(f"{serve():.3f}")

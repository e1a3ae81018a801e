"""A model that waits for a feature store in the middle of each call.

[[causes]]
name = "lookup"
line = "lookup(hidden)"
ms = 5.0
"""

import time

import torch
from _work import left_out, time_calls
from torch import nn

WITHOUT = left_out()


@torch.compiler.disable
def lookup(hidden):
    # A sleep may take longer than it should; the rest of the 5 ms is waited for on the clock.
    end = time.perf_counter() + 0.005
    time.sleep(0.004)
    while time.perf_counter() < end:
        pass


class Ranker(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(64, 64)
        self.second = nn.Linear(64, 64)

    def forward(self, x):
        hidden = self.first(x).relu()
        if "lookup" not in WITHOUT:
            lookup(hidden)
        return self.second(hidden)


torch.manual_seed(0)
model = torch.compile(Ranker().eval(), backend="eager")
batch = torch.randn(16, 64)
with torch.no_grad():
    time_calls(lambda: model(batch), calls=60)

"""A model that updates a monitoring dashboard in the middle of each call.

[[causes]]
name = "monitor"
line = "monitor(hidden)"
ms = 5.0
"""

import torch
from _work import left_out, spin, time_calls
from torch import nn

WITHOUT = left_out()


@torch.compiler.disable
def monitor(hidden):
    spin(5.0)


class Scorer(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(64, 64)
        self.second = nn.Linear(64, 64)

    def forward(self, x):
        hidden = self.first(x).relu()
        if "monitor" not in WITHOUT:
            monitor(hidden)
        return self.second(hidden)


torch.manual_seed(0)
model = torch.compile(Scorer().eval(), backend="eager")
batch = torch.randn(16, 64)
with torch.no_grad():
    time_calls(lambda: model(batch), calls=60)

"""A model with a break that does nothing, beside one that takes its time.

[[causes]]
name = "boundary"
line = "torch._dynamo.graph_break()"
ms = 0.0

[[causes]]
name = "decode"
line = "decode(hidden)"
ms = 5.0
"""

import torch
from _work import left_out, spin, time_calls
from torch import nn

WITHOUT = left_out()


@torch.compiler.disable
def decode(hidden):
    spin(5.0)


class Captioner(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(64, 64)
        self.second = nn.Linear(64, 64)
        self.third = nn.Linear(64, 8)

    def forward(self, x):
        hidden = self.first(x).relu()
        if "boundary" not in WITHOUT:
            torch._dynamo.graph_break()
        hidden = self.second(hidden).relu()
        if "decode" not in WITHOUT:
            decode(hidden)
        return self.third(hidden)


torch.manual_seed(0)
model = torch.compile(Captioner().eval(), backend="eager")
batch = torch.randn(16, 64)
with torch.no_grad():
    time_calls(lambda: model(batch), calls=60)

"""A model that post-processes boxes in Python between its two stages.

[[causes]]
name = "suppress_boxes"
line = "suppress_boxes(hidden)"
ms = 20.0
"""

import torch
from _work import left_out, spin, time_calls
from torch import nn

WITHOUT = left_out()


@torch.compiler.disable
def suppress_boxes(hidden):
    spin(20.0)


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(64, 64)
        self.second = nn.Linear(64, 64)

    def forward(self, x):
        hidden = self.first(x).relu()
        if "suppress_boxes" not in WITHOUT:
            suppress_boxes(hidden)
        return self.second(hidden)


torch.manual_seed(0)
model = torch.compile(Detector().eval(), backend="eager")
batch = torch.randn(16, 64)
with torch.no_grad():
    time_calls(lambda: model(batch), calls=30)

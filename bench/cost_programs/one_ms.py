"""A model that writes a checksum of its features for an audit trail.

[[causes]]
name = "checksum"
line = "checksum(hidden)"
ms = 1.0
"""

import torch
from _work import left_out, spin, time_calls
from torch import nn

WITHOUT = left_out()


@torch.compiler.disable
def checksum(hidden):
    spin(1.0)


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(64, 64)
        self.second = nn.Linear(64, 64)

    def forward(self, x):
        hidden = self.first(x).relu()
        if "checksum" not in WITHOUT:
            checksum(hidden)
        return self.second(hidden)


torch.manual_seed(0)
model = torch.compile(Classifier().eval(), backend="eager")
batch = torch.randn(16, 64)
with torch.no_grad():
    time_calls(lambda: model(batch), calls=100)

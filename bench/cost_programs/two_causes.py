"""A model with a slow break and a quick one.

[[causes]]
name = "export_features"
line = "export_features(hidden)"
ms = 5.0

[[causes]]
name = "count_tokens"
line = "count_tokens(hidden)"
ms = 2.0
"""

import torch
from _work import left_out, spin, time_calls
from torch import nn

WITHOUT = left_out()


@torch.compiler.disable
def export_features(hidden):
    spin(5.0)


@torch.compiler.disable
def count_tokens(hidden):
    spin(2.0)


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(64, 64)
        self.second = nn.Linear(64, 64)
        self.third = nn.Linear(64, 8)

    def forward(self, x):
        hidden = self.first(x).relu()
        if "export_features" not in WITHOUT:
            export_features(hidden)
        hidden = self.second(hidden).relu()
        if "count_tokens" not in WITHOUT:
            count_tokens(hidden)
        return self.third(hidden)


torch.manual_seed(0)
model = torch.compile(Tagger().eval(), backend="eager")
batch = torch.randn(16, 64)
with torch.no_grad():
    time_calls(lambda: model(batch), calls=60)

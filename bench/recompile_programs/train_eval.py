"""Training with an evaluation after each epoch.

more_calls = ["run(2)"]

[[groups]]
kind = "training"
place = "attribute"
values = ["True", "False"]
called_at = "outputs.append(compiled(batch))"
written_at = "model.train(training)"
recompiles = 1
calls = { total = 8, eager = 0 }
bounded = true
remedy = "none"
"""

import torch
from torch import nn


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 8)
        self.scale = nn.Parameter(torch.ones(8))

    def forward(self, batch):
        hidden = self.linear(batch)
        if self.training:
            hidden = hidden + 0.1 * hidden.detach().sign()
        return hidden * self.scale


torch.manual_seed(0)
model = Classifier()
compiled = torch.compile(model, backend="eager")


def run(epochs):
    outputs = []
    for _ in range(epochs):
        for training in (True, False):
            model.train(training)
            for _ in range(2):
                batch = torch.randn(4, 8)
                outputs.append(compiled(batch))
    return outputs


run(2)

"""Training on batches of text of different lengths, compiled with dynamic=False.

more_calls = ["train([3, 40, 1, 0, 17])", "train([12])"]

[[groups]]
kind = "size"
place = "argument"
name = "tokens"
dim = 1
values = ["12", "7", "9", "15", "6", "11", "8", "10", "14"]
called_at = "logits = model(tokens)"
bound_at = "tokens = torch.randint(0, 100, (4, length))"
recompiles = 7
refused = 1
limit = "recompile_limit"
calls = { total = 12, eager = 3, first = 9 }
bounded = false
remedy = "verified"
"""

import torch
from torch import nn


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(100, 16)
        self.head = nn.Linear(16, 5)

    def forward(self, tokens):
        return self.head(self.embedding(tokens)).softmax(-1)


torch.manual_seed(0)
model = torch.compile(Tagger(), backend="eager", dynamic=False)


def train(lengths):
    results = []
    for length in lengths:
        tokens = torch.randint(0, 100, (4, length))
        logits = model(tokens)
        results.append(logits.sum())
    return results


train([12, 7, 9, 15, 6, 11, 8, 10, 14, 13, 12, 5])

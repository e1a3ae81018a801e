"""Adversarial training: every other step needs the gradient of its images.

more_calls = ["train(3)"]

[[groups]]
kind = "requires_grad"
place = "argument"
name = "images"
values = ["False", "True"]
called_at = "loss = classifier(images)"
bound_at = "images = torch.rand(4, 12).requires_grad_(step % 2 == 1)"
recompiles = 1
calls = { total = 6, eager = 0 }
bounded = true
remedy = "none"
"""

import torch
from torch import nn

torch.manual_seed(0)
layers = nn.Sequential(nn.Linear(12, 8), nn.Tanh(), nn.Linear(8, 1))


@torch.compile(backend="eager")
def classifier(images):
    return layers(images).square().mean()


def train(steps):
    losses = []
    for step in range(steps):
        images = torch.rand(4, 12).requires_grad_(step % 2 == 1)
        loss = classifier(images)
        loss.backward()
        losses.append(loss.detach())
    return losses


train(6)

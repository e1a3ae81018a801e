"""Attribute a prediction to its inputs with captum, compiled as a whole."""

import torch
from captum.attr import IntegratedGradients

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(5, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2))
gradients = IntegratedGradients(model)


@torch.compile(backend="eager")
def explain(inputs):
    return gradients.attribute(inputs, target=1, n_steps=8)


result = explain(torch.randn(3, 5))
print(tuple(result.shape), f"{result.sum().item():.4f}")

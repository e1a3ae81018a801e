"""Sampling with a temperature that cools down, compiled with dynamic=False.

more_calls = ["generate([0.25, 3.0, 1.0])"]

[[groups]]
kind = "float"
place = "argument"
name = "temperature"
values = ["2.0", "1.5", "1.2", "1.1", "0.9", "0.8"]
called_at = "probabilities = next_token(logits, temperature)"
bound_at = "for temperature in schedule:"
recompiles = 5
calls = { total = 7, eager = 0 }
bounded = false
remedy = "verified"
"""

import torch


@torch.compile(backend="eager", dynamic=False)
def next_token(logits, temperature):
    return (logits / temperature).softmax(-1)


def generate(schedule):
    history = []
    for temperature in schedule:
        logits = torch.randn(1, 50)
        probabilities = next_token(logits, temperature)
        history.append(probabilities)
    return history


torch.manual_seed(0)
generate([2.0, 1.5, 1.2, 1.1, 0.9, 0.8, 0.8])

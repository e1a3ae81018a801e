"""A diffusion sampler whose number of steps is chosen by the request.

more_calls = ["serve([3, 30, 0])", "serve([10, 1])"]

[[groups]]
kind = "int"
place = "argument"
name = "steps"
values = ["4", "2", "6", "3", "8", "5", "10", "7", "9"]
called_at = "images.append(sample(noise, steps))"
bound_at = "for steps in requests:"
recompiles = 7
refused = 1
limit = "recompile_limit"
calls = { total = 12, eager = 2, first = 9 }
bounded = false
remedy = "verified"
"""

import torch
from torch import nn

torch.manual_seed(0)
denoise = nn.Linear(6, 6).requires_grad_(False)


@torch.compile(backend="eager")
def sample(noise, steps):
    image = noise
    for _ in range(steps):
        image = image - 0.1 * denoise(image).tanh()
    return image


def serve(requests):
    images = []
    for steps in requests:
        noise = torch.randn(2, 6)
        images.append(sample(noise, steps))
    return images


serve([4, 2, 6, 3, 8, 5, 10, 7, 9, 4, 9, 2])

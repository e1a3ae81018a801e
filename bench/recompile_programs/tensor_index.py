"""A noise schedule that is read with a 0-d tensor as the index.

more_calls = ["denoise([10, 3, 0])"]

[[groups]]
kind = "int"
place = "argument"
name = "step"
values = ["9", "8", "7", "6", "5", "4", "3", "2", "1"]
called_at = "image = remove_noise(image, step)"
bound_at = "step = torch.tensor(number)"
recompiles = 7
refused = 1
limit = "recompile_limit"
calls = { total = 10, eager = 2, first = 9 }
bounded = false
remedy = "verified"
"""

import torch

torch.manual_seed(0)
schedule = torch.linspace(0.1, 0.9, 11)


@torch.compile(backend="eager")
def remove_noise(image, step):
    return image * schedule[step] + 0.01


def denoise(steps):
    image = torch.randn(4, 4)
    for number in steps:
        step = torch.tensor(number)
        image = remove_noise(image, step)
    return image


denoise(range(9, -1, -1))

"""Augmentations that keep their strength in the default of an argument.

more_calls = ["augment([3, 11])"]

[[groups]]
kind = "int"
place = "default"
name = "*"
values = ["2", "3", "4", "5", "6", "7"]
called_at = "image = apply(image, blend)"
written_at = "def blend(image, strength=strength):"
recompiles = 5
calls = { total = 6, eager = 0 }
bounded = false
remedy = "verified"
"""

import torch


@torch.compile(backend="eager", dynamic=False)
def apply(image, augmentation):
    return augmentation(image).clamp(0, 1)


def augment(strengths):
    image = torch.rand(3, 8, 8)
    for strength in strengths:

        def blend(image, strength=strength):
            return image / strength + image.mean()

        image = apply(image, blend)
    return image


torch.manual_seed(0)
augment([2, 3, 4, 5, 6, 7])

"""Augment images with kornia: random parameters are drawn inside the compiled function."""

import kornia
import torch

torch.manual_seed(0)
augment = kornia.augmentation.AugmentationSequential(
    kornia.augmentation.RandomHorizontalFlip(p=0.5),
    kornia.augmentation.ColorJitter(0.1, 0.1, 0.1, 0.1, p=1.0),
    data_keys=["input"],
)


@torch.compile(backend="eager")
def prepare(images):
    blurred = kornia.filters.gaussian_blur2d(images, (3, 3), (1.0, 1.0))
    return augment(blurred) + kornia.filters.sobel(images)


result = prepare(torch.rand(2, 3, 8, 8))
print(tuple(result.shape), bool(torch.isfinite(result).all()))

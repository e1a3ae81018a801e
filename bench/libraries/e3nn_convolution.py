"""Multiply spherical harmonics and features with e3nn, equivariantly."""

import torch
from e3nn import o3

torch.manual_seed(0)
irreps = o3.Irreps("4x0e + 2x1o")
harmonics = o3.Irreps.spherical_harmonics(2)
product = o3.FullyConnectedTensorProduct(irreps, harmonics, irreps)


@torch.compile(backend="eager")
def convolve(features, edges):
    attributes = o3.spherical_harmonics(harmonics, edges, normalize=True)
    return product(features, attributes)


result = convolve(irreps.randn(5, -1), torch.randn(5, 3))
result.sum().backward()
print(tuple(result.shape), f"{result.abs().sum().item():.2f}")

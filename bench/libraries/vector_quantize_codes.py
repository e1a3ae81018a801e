"""Quantize vectors with the codebooks of vector-quantize-pytorch."""

import torch
from vector_quantize_pytorch import FSQ, VectorQuantize

torch.manual_seed(0)
quantizer = VectorQuantize(dim=8, codebook_size=16, kmeans_init=True, kmeans_iters=2)
scalar = FSQ(levels=[4, 4, 4], dim=8)


@torch.compile(backend="eager")
def encode(x):
    quantized, codes, commitment = quantizer(x)
    rounded, _ = scalar(quantized)
    return rounded.mean() + commitment.sum(), codes


x = torch.randn(2, 24, 8, requires_grad=True)
loss, codes = encode(x)
loss.backward()
loss, codes = encode(x.detach())
print(tuple(codes.shape), f"{loss.item():.3f}")

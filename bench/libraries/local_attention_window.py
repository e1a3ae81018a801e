"""Attend within windows with local-attention, compiled with inductor."""

import torch
from local_attention import LocalMHA

torch.manual_seed(0)
layer = LocalMHA(dim=16, window_size=4, dim_head=8, heads=2, causal=True)
compiled = torch.compile(layer, backend="inductor")

result = compiled(torch.randn(1, 8, 16), mask=torch.ones(1, 8).bool())
result.sum().backward()
print(tuple(result.shape), f"{result.sum().item():.3f}")

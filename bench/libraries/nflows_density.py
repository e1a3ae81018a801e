"""Estimate a density with a masked autoregressive flow of nflows, and train it once."""

import torch
from nflows.distributions import StandardNormal
from nflows.flows import Flow
from nflows.transforms import (
    CompositeTransform,
    MaskedPiecewiseRationalQuadraticAutoregressiveTransform,
    ReversePermutation,
)

torch.manual_seed(0)
flow = Flow(
    CompositeTransform(
        [
            MaskedPiecewiseRationalQuadraticAutoregressiveTransform(
                features=2, hidden_features=8, num_blocks=1, tails="linear", tail_bound=3.0
            ),
            ReversePermutation(2),
        ]
    ),
    StandardNormal([2]),
)


@torch.compile(backend="eager")
def loss_of(points):
    return -flow.log_prob(points).mean()


loss = loss_of(torch.randn(16, 2))
loss.backward()
print(f"{loss.item():.3f}")

"""Sample from a real NVP of normflows and compute its forward divergence."""

import normflows
import torch

torch.manual_seed(0)
layers = []
for _ in range(2):
    layers.append(normflows.flows.AffineCouplingBlock(normflows.nets.MLP([1, 8, 2])))
    layers.append(normflows.flows.Permute(2, mode="swap"))
    layers.append(normflows.flows.ActNorm(2))
model = normflows.NormalizingFlow(normflows.distributions.DiagGaussian(2), layers)
divergence = torch.compile(model.forward_kld, backend="aot_eager")

points = torch.randn(8, 2)
for _ in range(2):
    loss = divergence(points)
loss.backward()
print(f"{loss.item():.3f}")

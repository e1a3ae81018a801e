"""Simulate a stochastic differential equation with torchsde."""

import torch
import torchsde

torch.manual_seed(0)


class Drifting(torch.nn.Module):
    noise_type = "diagonal"
    sde_type = "ito"

    def __init__(self):
        super().__init__()
        self.drift = torch.nn.Linear(2, 2)

    def f(self, t, y):
        return self.drift(y)

    def g(self, t, y):
        return 0.1 * torch.ones_like(y)


sde = Drifting()
times = torch.linspace(0, 0.2, 3)


@torch.compile(backend="eager")
def simulate(start):
    noise = torchsde.BrownianInterval(t0=0.0, t1=0.2, size=(4, 2), entropy=7)
    return torchsde.sdeint(sde, start, times, bm=noise, dt=0.1, method="euler")


path = simulate(torch.zeros(4, 2))
print(tuple(path.shape), f"{path[-1].mean().item():.3f}")

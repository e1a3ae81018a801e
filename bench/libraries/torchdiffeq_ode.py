"""Solve an ordinary differential equation with an adaptive solver of torchdiffeq."""

import torch
from torchdiffeq import odeint

torch.manual_seed(0)
dynamics = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, 3))


@torch.compile(backend="eager")
def solve(start, times):
    return odeint(lambda t, y: dynamics(y), start, times, method="dopri5")


path = solve(torch.randn(2, 3), torch.linspace(0, 1, 4))
path[-1].sum().backward()
print(tuple(path.shape), f"{path[-1].sum().item():.3f}")

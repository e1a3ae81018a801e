"""Fit a Bayesian linear model with pyro; one step of the guide is compiled."""

import pyro
import pyro.distributions as dist
import torch
from pyro.infer import Trace_ELBO
from pyro.infer.autoguide import AutoNormal

pyro.set_rng_seed(0)
x = torch.linspace(-1, 1, 16)
y = 2 * x + 0.1 * torch.randn(16)


def model(x, y):
    slope = pyro.sample("slope", dist.Normal(0.0, 1.0))
    with pyro.plate("data", len(x)):
        return pyro.sample("y", dist.Normal(slope * x, 0.1), obs=y)


guide = AutoNormal(model)
guide(x, y)
elbo = Trace_ELBO()


@torch.compile(backend="eager")
def loss_of(x, y):
    return elbo.differentiable_loss(model, guide, x, y)


loss = loss_of(x, y)
loss.backward()
print("finite", bool(torch.isfinite(loss)))

"""Train an exact Gaussian process with gpytorch; the loss is compiled."""

import gpytorch
import torch

torch.manual_seed(0)


class Regression(gpytorch.models.ExactGP):
    def __init__(self, x, y, likelihood):
        super().__init__(x, y, likelihood)
        self.mean = gpytorch.means.ConstantMean()
        self.covariance = gpytorch.kernels.ScaleKernel(gpytorch.kernels.RBFKernel())

    def forward(self, x):
        return gpytorch.distributions.MultivariateNormal(self.mean(x), self.covariance(x))


x = torch.linspace(0, 1, 12)
y = torch.sin(6 * x)
likelihood = gpytorch.likelihoods.GaussianLikelihood()
model = Regression(x, y, likelihood)
model.train()
likelihood.train()
marginal = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model)
optimizer = torch.optim.Adam(model.parameters(), lr=0.1)


@torch.compile(backend="eager")
def loss_of(inputs, targets):
    return -marginal(model(inputs), targets)


for _ in range(2):
    optimizer.zero_grad()
    loss = loss_of(x, y)
    loss.backward()
    optimizer.step()
print(f"{loss.item():.3f}")

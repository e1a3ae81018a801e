"""A forward calls `retain_grad()` on a hidden activation, to read its gradient later: Grad-CAM,
saliency, a check for vanishing gradients.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return torch.randn(4, 8), torch.randn(8, 3, requires_grad=True)


def breaks(x, weight):
    features = torch.tanh(x @ weight)
    features.retain_grad()
    loss = features.square().mean()
    return features, loss


def loss_of(features):
    features.retain_grad()
    return features, features.square().mean()


@fix("move", "exact", after=loss_of)
def fixed(x, weight):
    """The graph ends at the layer of interest, so its activation is an ordinary tensor with
    eager-mode autograd. The rest of the model continues from it and can be compiled separately.
    """
    return torch.tanh(x @ weight)

"""Someone wants the gradient at a hidden layer (Grad-CAM, saliency, a look at vanishing gradients)
and calls `retain_grad()` on the activation in the middle of `forward`.
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
    """The graph ends at the layer of interest, so its activation is an ordinary tensor of eager's
    autograd there, and the rest of the model, itself compiled if you like, goes on from it.
    """
    return torch.tanh(x @ weight)

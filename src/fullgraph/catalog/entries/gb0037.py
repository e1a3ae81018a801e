"""Least squares inside a model: torch.linalg.lstsq gives an empty tensor or a full one for its
residuals, depending on the rank of the matrix, and nothing tells Dynamo which.
"""

import torch

from fullgraph.catalog.kit import fix

CONFIG = {"capture_dynamic_output_shape_ops": True}


def inputs():
    return torch.randn(16, 4, dtype=torch.float64), torch.randn(16, 2, dtype=torch.float64)


def breaks(features, targets):
    return torch.linalg.lstsq(features, targets).solution


@fix("rewrite", "narrower")
def fixed(features, targets):
    """The QR decomposition solves the same problem with known shapes, if the matrix has full rank."""
    q, r = torch.linalg.qr(features)
    return torch.linalg.solve_triangular(r, q.mT @ targets, upper=True)

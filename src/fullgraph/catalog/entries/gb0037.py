"""Least squares inside a model: torch.linalg.lstsq gives an empty tensor or a full one for its
residuals, depending on the rank of the matrix, and nothing tells Dynamo which.
"""

import torch

from fullgraph.catalog.fix_decorator import fix

CONFIG = {"capture_dynamic_output_shape_ops": True}


def inputs():
    return torch.randn(16, 4), torch.randn(16, 2)


def breaks(features, targets):
    # In double precision, for the sake of nearly dependent features.
    return torch.linalg.lstsq(features.double(), targets.double()).solution.float()


@fix("rewrite", "narrower")
def fixed(features, targets):
    """QR solves the same problem with known shapes, provided that the matrix has full rank."""
    q, r = torch.linalg.qr(features.double())
    return torch.linalg.solve_triangular(r, q.mT @ targets.double(), upper=True).float()

"""A model solves a least-squares problem. The residuals of torch.linalg.lstsq are empty or full,
depending on the rank of the matrix, which Dynamo does not know.
"""

import torch

from fullgraph.catalog.fix_decorator import fix

CONFIG = {"capture_dynamic_output_shape_ops": True}


def inputs():
    return torch.randn(16, 4), torch.randn(16, 2)


def breaks(features, targets):
    # Double precision helps with nearly dependent features.
    return torch.linalg.lstsq(features.double(), targets.double()).solution.float()


@fix("rewrite", "narrower")
def fixed(features, targets):
    """QR solves the same problem with known shapes, if the matrix has full rank."""
    q, r = torch.linalg.qr(features.double())
    return torch.linalg.solve_triangular(r, q.mT @ targets.double(), upper=True).float()

"""A normalization that is used in float32 for training and in bfloat16 for inference.

more_calls = ["normalize_all([torch.bfloat16, torch.float32])"]

[[groups]]
kind = "dtype"
place = "argument"
name = "features"
values = ["float32", "bfloat16"]
called_at = "results.append(normalize(features))"
bound_at = "features = torch.randn(8, 16, dtype=dtype)"
recompiles = 1
calls = { total = 6, eager = 0 }
bounded = true
remedy = "none"
"""

import torch


@torch.compile(backend="eager")
def normalize(features):
    centered = features - features.mean(-1, keepdim=True)
    return centered / (centered.std(-1, keepdim=True) + 1e-3)


def normalize_all(dtypes):
    results = []
    for dtype in dtypes:
        features = torch.randn(8, 16, dtype=dtype)
        results.append(normalize(features))
    return results


torch.manual_seed(0)
normalize_all([torch.float32] * 3 + [torch.bfloat16] * 3)

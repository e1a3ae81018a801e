"""Token ids that arrive in the smallest integer type that fits, and are widened in the model.

more_calls = ["embed_all([torch.int8, torch.int64])", "embed_all([torch.bool])"]

[[groups]]
kind = "dtype"
place = "argument"
name = "tokens"
values = ["uint8", "int16", "int32", "int64"]
called_at = "vectors.append(embed(tokens))"
bound_at = "tokens = torch.randint(0, 2, (4, 10)).to(dtype)"
recompiles = 3
calls = { total = 8, eager = 0 }
bounded = false
remedy = "verified"
"""

import torch
from torch import nn

torch.manual_seed(0)
table = nn.Embedding(200, 16)


@torch.compile(backend="eager")
def embed(tokens):
    return table(tokens.long()).mean(1)


def embed_all(dtypes):
    vectors = []
    for dtype in dtypes:
        tokens = torch.randint(0, 2, (4, 10)).to(dtype)
        vectors.append(embed(tokens))
    return vectors


small, medium, large = torch.uint8, torch.int16, torch.int32
embed_all([small, medium, large, torch.int64, small, medium, large, torch.int64])

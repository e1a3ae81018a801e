"""Attention whose mask is only given for batches with padding.

more_calls = ["encode([7, 8, 3])"]

[[groups]]
kind = "none"
place = "argument"
name = "mask"
values = ["None", "*"]
called_at = "encoded.append(attend(tokens, mask))"
bound_at = "mask = torch.arange(8) < length if length < 8 else None"
recompiles = 1
calls = { total = 6, eager = 0 }
bounded = true
remedy = "none"
"""

import torch


@torch.compile(backend="eager")
def attend(tokens, mask=None):
    scores = tokens @ tokens.transpose(0, 1)
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e9)
    return scores.softmax(-1) @ tokens


def encode(lengths):
    encoded = []
    for length in lengths:
        tokens = torch.randn(8, 4)
        mask = torch.arange(8) < length if length < 8 else None
        encoded.append(attend(tokens, mask))
    return encoded


torch.manual_seed(0)
encode([8, 5, 8, 6, 3, 8])

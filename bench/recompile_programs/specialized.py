"""A sequence that is marked as dynamic, and a line that makes its length a constant.

more_calls = ["encode([9, 20])"]

[[groups]]
kind = "size"
place = "argument"
name = "sequence"
dim = 0
values = ["5", "6", "7", "8", "9", "10"]
called_at = "encoded.append(add_positions(sequence))"
bound_at = "sequence = torch.randn(length, 8)"
recompiles = 5
calls = { total = 7, eager = 0 }
remedy = "any"
"""

import torch

torch.manual_seed(0)
POSITIONS = {length: torch.randn(length, 8) for length in range(1, 32)}


@torch.compile(backend="eager")
def add_positions(sequence):
    length = int(sequence.shape[0])
    return sequence + POSITIONS[length]


def encode(lengths):
    encoded = []
    for length in lengths:
        sequence = torch.randn(length, 8)
        torch._dynamo.maybe_mark_dynamic(sequence, 0)
        encoded.append(add_positions(sequence))
    return encoded


encode([5, 6, 7, 8, 9, 10, 5])

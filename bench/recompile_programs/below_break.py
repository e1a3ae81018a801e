"""A model that reads the longest length of its batch from a tensor, which breaks the graph.

more_calls = ["encode([[2, 8], [1, 1]])"]

[[groups]]
kind = "int"
place = "break"
name = "longest"
values = ["3", "4", "5", "6", "7"]
called_at = "outputs.append(pool(tokens, lengths))"
recompiles = 4
calls = { total = 6, eager = 0 }
bounded = false
remedy = "verified"
"""

import torch


@torch.compile(backend="eager", dynamic=False)
def pool(tokens, lengths):
    longest = int(lengths.max())
    mask = torch.arange(8) < longest
    return (tokens * mask[None, :, None]).sum(1) / longest


def encode(batches):
    outputs = []
    for batch in batches:
        tokens = torch.randn(2, 8, 4)
        lengths = torch.tensor(batch)
        outputs.append(pool(tokens, lengths))
    return outputs


torch.manual_seed(0)
encode([[3, 2], [1, 4], [5, 5], [6, 2], [3, 7], [3, 1]])

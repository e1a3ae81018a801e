"""A model that returns its attention weights only when asked to.

more_calls = ["explain([False, True])"]

[[groups]]
kind = "bool"
place = "argument"
name = "return_weights"
values = ["False", "True"]
called_at = "results.append(attend(tokens, return_weights))"
bound_at = "for return_weights in requests:"
recompiles = 1
calls = { total = 6, eager = 0 }
bounded = true
remedy = "none"
"""

import torch


@torch.compile(backend="eager")
def attend(tokens, return_weights):
    weights = (tokens @ tokens.transpose(0, 1)).softmax(-1)
    mixed = weights @ tokens
    return (mixed, weights) if return_weights else mixed


def explain(requests):
    results = []
    for return_weights in requests:
        tokens = torch.randn(5, 8)
        results.append(attend(tokens, return_weights))
    return results


torch.manual_seed(0)
explain([False, False, True, False, True, False])

"""The code has a bytecode instruction that Dynamo has no rule for, for instance `del scores` to
free memory, where an inner function or a lambda uses the variable as well.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    scores = x @ x.T

    def attend(values):
        return scores.softmax(dim=-1) @ values

    result = attend(x)
    del scores
    return result.relu()


@fix("rewrite", "exact")
def fixed(x):
    """A graph frees a tensor after its last use by itself, so the `del` is not needed."""
    scores = x @ x.T

    def attend(values):
        return scores.softmax(dim=-1) @ values

    return attend(x).relu()


@fix("rewrite", "exact")
def fixed_with_an_argument(x):
    """Passed to the inner function, the variable is an ordinary local, which may be deleted."""
    scores = x @ x.T

    def attend(weights, values):
        return weights.softmax(dim=-1) @ values

    result = attend(scores, x)
    del scores
    return result.relu()

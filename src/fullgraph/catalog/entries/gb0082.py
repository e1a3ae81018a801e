"""The code has a bytecode instruction that Dynamo does not support. For example, `del scores` frees
memory although an inner function or a lambda uses the variable too.
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
    """The graph frees a tensor after its last use, so the `del` is not needed."""
    scores = x @ x.T

    def attend(values):
        return scores.softmax(dim=-1) @ values

    return attend(x).relu()


@fix("rewrite", "exact")
def fixed_with_an_argument(x):
    """The variable is passed to the inner function, so it is an ordinary local and can be
    deleted.
    """
    scores = x @ x.T

    def attend(weights, values):
        return weights.softmax(dim=-1) @ values

    result = attend(scores, x)
    del scores
    return result.relu()

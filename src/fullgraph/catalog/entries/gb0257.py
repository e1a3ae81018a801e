"""The output of a model is a TypedDict in which some keys may be left out (`total=False`,
`NotRequired`), made by calling the class.
"""

from typing import TypedDict

import torch

from fullgraph.catalog.fix_decorator import fix


class Output(TypedDict, total=False):
    logits: torch.Tensor
    loss: torch.Tensor


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    return Output(logits=torch.relu(x))


@fix("rewrite", "exact")
def fixed(x):
    """A TypedDict is a plain dict once it is made: write one, annotated for the type checker."""
    output: Output = {"logits": torch.relu(x)}
    return output

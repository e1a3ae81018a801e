"""The output of a model is a TypedDict with optional keys (`total=False`, `NotRequired`), made by
calling the class.
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
    """A TypedDict is a plain dict at run time: write a dict literal and annotate it for the type
    checker.
    """
    output: Output = {"logits": torch.relu(x)}
    return output

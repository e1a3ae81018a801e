"""`dataclasses.fields` gets the class of a configuration or output, not an instance."""

from dataclasses import dataclass, fields

import torch

from fullgraph.catalog.fix_decorator import fix


@dataclass(eq=False)
class Output:
    logits: torch.Tensor
    hidden: torch.Tensor


NAMES = tuple(field.name for field in fields(Output))


def inputs():
    return Output(torch.randn(4), torch.randn(4))


def breaks(output):
    return torch.stack([getattr(output, field.name) for field in fields(Output)])


@fix("rewrite", "exact")
def fixed(output):
    """An instance has the same fields, and Dynamo supports `fields` for it."""
    return torch.stack([getattr(output, field.name) for field in fields(output)])


@fix("rewrite", "exact")
def fixed_with_names(output):
    """The names are constant, so they are collected once, when the module is imported."""
    return torch.stack([getattr(output, name) for name in NAMES])

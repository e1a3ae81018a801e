"""Operators whose output has a size that depends on data get a symbol for it.

`nonzero`, `unique`, a boolean mask or `repeat_interleave` have as many rows as the data says. With
`capture_dynamic_output_shape_ops` the number of rows is a symbol, as `capture_scalar_outputs` does
for values; both are set, because such a size is mostly read soon after.

Exact: the same operators run on the same data.
"""

from collections.abc import Iterator

from fullgraph.fix.fixers import Spot
from fullgraph.fix.model import Candidate

TITLE = "sizes that depend on data → symbols in the graph"
KIND = "setting"
SAFETY = "exact"
ORDER = 1


def candidates(spot: Spot) -> Iterator[Candidate]:
    if spot.cause.id == "GB0036" or spot.cause.category in ("data-dependent", "dynamic-shapes"):
        settings = {"capture_dynamic_output_shape_ops": True, "capture_scalar_outputs": True}
        yield Candidate(
            "capture_dynamic_output_shape_ops", TITLE, "setting", "exact", settings=settings
        )


CHANGES = {
    "a boolean mask": """
import torch

def f(x):
    return x[x > 0].sum() + 1

def inputs():
    return (torch.randn(16),)
""",
}
REFUSES = {
    "as many steps as rows": """
import torch

def f(x):
    for row in (x > 0).nonzero():
        x = x + row
    return x

def inputs():
    return (torch.randn(4),)
""",
}

"""Numbers that are read out of tensors become symbols of the graph.

`.item()`, `int(t)` and `.tolist()` need a value while tracing, and there is none. With
`capture_scalar_outputs` Dynamo traces on with a symbol. It may flow into arithmetic and sizes;
where Python has to know it, as in a branch, tracing breaks or fails after all.

Exact: the same operators run on the same numbers.
"""

from collections.abc import Iterator

from fullgraph.fix.fixers import Spot
from fullgraph.fix.model import Candidate

TITLE = "numbers out of tensors → symbols in the graph"
KIND = "setting"
SAFETY = "exact"

_IDS = ("GB0124", "GB0033", "GB0036", "GB0170")


def candidates(spot: Spot) -> Iterator[Candidate]:
    if spot.cause.id in _IDS or spot.cause.category in ("data-dependent", "dynamic-shapes"):
        setting = {"capture_scalar_outputs": True}
        yield Candidate("capture_scalar_outputs", TITLE, "setting", "exact", settings=setting)


CHANGES = {
    "item that scales": """
import torch

def f(x):
    return x * x.abs().max().item()

def inputs():
    return (torch.randn(4, 8),)
""",
}
REFUSES = {
    "a loop over a computed value": """
import torch

def f(x):
    for _ in range(int(x.abs().sum()) % 3 + 1):
        x = x + 1
    return x

def inputs():
    return (torch.arange(8.0),)
""",
}

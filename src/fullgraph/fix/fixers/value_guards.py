"""Integer inputs whose values are read while tracing become guarded constants.

Grids, lengths and masks that come in as small integer tensors are known when Dynamo traces; they
could be constants, if something noticed when they change. Value guards do that: see
`docs/value-guards.md`. Nothing is rewritten, and it works in memory only, through
`fullgraph.compile` and `fullgraph run --mend`.

Specialised: the results are the same, but a new value compiles once more.
"""

from collections.abc import Iterator

from fullgraph.fix.fixers import Spot
from fullgraph.fix.model import Candidate

TITLE = "values of integer inputs → guarded constants"
KIND = "guard"
SAFETY = "specialised"

_CATEGORIES = ("data-dependent", "dynamic-shapes")


def candidates(spot: Spot) -> Iterator[Candidate]:
    # Without an id: a symbol that a setting has put into the graph, and that Python asks about.
    is_range = spot.cause.id == "GB0059" and "range(" in spot.line
    if spot.cause.category in _CATEGORIES or spot.cause.id is None or is_range:
        yield Candidate("value_guards", TITLE, "guard", "specialised", guards=True)


CHANGES = {
    "lengths to split by": """
import torch

def f(x, lengths):
    return torch.stack([part.sum(0) for part in x.split(lengths.tolist())])

def inputs():
    return torch.randn(6, 4), torch.tensor([1, 2, 3])
""",
    "as often as an input says": """
import torch

def f(x, times):
    for _ in range(times):
        x = x.sin()
    return x

def inputs():
    return torch.randn(6), torch.tensor(3)
""",
}
REFUSES = {
    "a value that depends on activations": """
import torch

def f(x):
    for _ in range(int(x.abs().sum()) % 3):
        x = x + 1
    return x

def inputs():
    return (torch.randn(8),)
""",
}

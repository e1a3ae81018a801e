"""Where a break stays, it cuts the program once, and not once for each function around it.

A break inside of a function that a compiled one calls ends the graph of the caller, those of all
functions in between, and its own: each of them is compiled in two parts. With
`nested_graph_breaks` Dynamo resumes in the middle of the whole stack, so that there is one cut.

Exact: the same operators run in the same order. The break is still there, so this comes last.
"""

from collections.abc import Iterator

from fullgraph.fix.fixers import Spot
from fullgraph.fix.model import Candidate

TITLE = "a break in a called function → one cut instead of one a caller"
KIND = "ease"
SAFETY = "exact"


def candidates(spot: Spot) -> Iterator[Candidate]:
    setting = {"nested_graph_breaks": True}
    yield Candidate("nested_graph_breaks", TITLE, "ease", "exact", settings=setting)


# Both still break: what counts is the number of graphs, which
# tests/fix/search/test_search.py looks at.
CHANGES: dict[str, str] = {}
REFUSES = {
    "nothing around it": """
import time
import torch

def f(x):
    y = x.sin()
    time.sleep(0)
    return y.cos()

def inputs():
    return (torch.randn(4),)
""",
}

"""Both sides of a branch on a tensor are computed, and `torch.where` chooses.

`if x.sum() > 0: y = x + 1` needs the value of a tensor while tracing, and there is none. Where both
sides are cheap, the graph can hold both. So `if`, `elif` and `else` that bind names, ternaries,
early returns and stores to buffers on a condition become `torch.where` of the same expressions. A
buffer stays the buffer that it is: it is written what it held already.

Exact: the side that is chosen is computed as before. What is refused, because computing the other
side shows: everything that is not known to be without effects, that may raise, that may make a
gradient that is not a number (division, roots, exponentials), and all sides that may differ in
shape or type. What differs: the result is a new tensor where it was an old one before, so nothing
may be written to it in place; and a parameter that only the other side uses gets a gradient of
zeros, where it had none.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fullgraph.fix.fixers import Spot
from fullgraph.fix.fixers._branches.branch import place_of
from fullgraph.fix.fixers._branches.cases_where import CHANGES as CHANGES
from fullgraph.fix.fixers._branches.cases_where_refused import REFUSES as REFUSES
from fullgraph.fix.fixers._branches.to_where import Selection
from fullgraph.fix.model import Candidate
from fullgraph.fix.source.edits import patched

TITLE = "branch on a tensor → torch.where"
KIND = "rewrite"
SAFETY = "exact"


def candidates(spot: Spot) -> Iterator[Candidate]:
    place = place_of(spot)
    if place is None or not isinstance(place.node, ast.If | ast.IfExp):
        return
    text = Selection(place).text()
    if text is not None:
        file = patched(spot, text, "import torch")
        yield Candidate("branch_to_where", TITLE, "rewrite", "exact", file=file)

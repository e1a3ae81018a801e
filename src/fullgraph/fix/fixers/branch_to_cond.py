"""The sides of a branch on a tensor become functions, and `torch.cond` calls one of them.

A branch needs the value of its test while tracing, and there is none. `torch.cond` keeps the branch
in the graph: both sides are traced, and one of them runs. It is for what `torch.where` must not
compute on the side that is not taken, such as a division that the test protects, or for sides that
are too costly to compute for nothing.

Exact. In eager `torch.cond` would compile at every call, so there it is given a Python truth value,
and is a plain branch. While compiled, both sides must give tensors of the same shape, type and
strides, and none that exists already: where a side gives an old tensor, it gives a copy. So nothing
may be written to the result in place. Refused is what `torch.cond` gets wrong or cannot hold:
everything random (its gradients are wrong), effects, writes to tensors or attributes, modules that
are not known to be free of all that, and results that are numbers. A parameter that only the other
side uses gets a gradient of zeros while compiled, where it had none. With inputs of another type a
pair of sides that fits today may not fit any more: that raises while compiling.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fullgraph.fix.fixers import Spot
from fullgraph.fix.fixers._branches.branch import place_of
from fullgraph.fix.fixers._branches.cases_cond import CHANGES as CHANGES
from fullgraph.fix.fixers._branches.cases_cond import REFUSES as REFUSES
from fullgraph.fix.fixers._branches.to_cond import Calling
from fullgraph.fix.fixers._branches.to_where import Selection
from fullgraph.fix.model import Candidate
from fullgraph.fix.source.edits import patched

TITLE = "branch on a tensor → torch.cond"
KIND = "rewrite"
SAFETY = "exact"


def candidates(spot: Spot) -> Iterator[Candidate]:
    place = place_of(spot)
    if place is None or not isinstance(place.node, ast.If | ast.IfExp):
        return
    # What `torch.where` can do is simpler so.
    text = Calling(place).text() if Selection(place).text() is None else None
    if text is not None:
        file = patched(spot, text, "import torch")
        yield Candidate("branch_to_cond", TITLE, "rewrite", "exact", file=file)

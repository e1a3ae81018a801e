"""A check on a tensor stays a check, and does not break the graph.

`if not ok: raise` and `assert ok, f"..."` are branches on tensors. But one side of such a branch
only ends the program, so the graph can go on with the other one and hold the check as an operator:
`torch._assert_async` raises at run time if its tensor is false.

Exact in eager, where the check is the one that it was. While compiled, what is raised is a
`RuntimeError`, whatever it was before, and values that a message shows are left out of it; on a GPU
it comes when the device gets there, and ends the use of the device. So a check inside a `try` is
left alone, as somebody waits for that exception, and so is one that does anything else besides
raising. What comes behind the check may be computed before it is heard of, so of two things that
are wrong the other one may be reported.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fullgraph.fix.fixers import Spot
from fullgraph.fix.fixers._branches.branch import place_of
from fullgraph.fix.fixers._branches.cases_checks import CHANGES as CHANGES
from fullgraph.fix.fixers._branches.cases_checks import REFUSES as REFUSES
from fullgraph.fix.fixers._branches.to_assert import check_as_operator
from fullgraph.fix.model import Candidate
from fullgraph.fix.source.edits import patched

TITLE = "check on a tensor → assertion in the graph (a RuntimeError while compiled)"
KIND = "rewrite"
SAFETY = "exact"


def candidates(spot: Spot) -> Iterator[Candidate]:
    place = place_of(spot)
    if place is None or not isinstance(place.node, ast.If | ast.Assert):
        return
    text = check_as_operator(place)
    if text is not None:
        file = patched(spot, text, "import torch")
        yield Candidate("check_to_assert", TITLE, "rewrite", "exact", file=file)

"""Turns Python numbers that are read from tensors into unbacked symbols of the graph.

What it does: sets `torch._dynamo.config.capture_scalar_outputs`.

Why it breaks: `.item()`, `int(t)` and `.tolist()` need a value at trace time, when there is none.
With the setting, Dynamo continues with an unbacked symbol, which may be used in arithmetic and as a
size. Where Python needs the value, as in a branch, tracing still breaks or fails.

Safety: exact. The same operators run on the same numbers.

Not applied when: a trial shows that the break stays or that another one takes its place.
"""

from __future__ import annotations

from collections.abc import Iterator

from fullgraph.fix.fixers import Proposal
from fullgraph.fix.model import Candidate
from fullgraph.fix.source.break_ids import TENSOR_ITEM
from fullgraph.fix.source.context import BreakContext

TITLE = "`.item()` → unbacked symbol in the graph"
KIND = "setting"
SAFETY = "exact"
IDS = (TENSOR_ITEM,)
CATEGORIES = ("data-dependent", "dynamic-shapes")


def propose(context: BreakContext) -> Iterator[Proposal]:
    """Yield the setting."""
    yield Candidate(settings={"capture_scalar_outputs": True})

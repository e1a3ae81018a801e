"""Lets operators whose output size depends on data into the graph.

What it does: sets `torch._dynamo.config.capture_dynamic_output_shape_ops`, together with
`capture_scalar_outputs`.

Why it breaks: the output of `nonzero`, `unique` or a boolean mask has a size that only the data
determines. With the settings, that size is an unbacked symbol.

Safety: exact. The same operators run on the same data.

Not applied when: a trial shows that Python needs the size as a number, as in a loop.
"""

from __future__ import annotations

from collections.abc import Iterator

from fullgraph.fix.fixers import Proposal
from fullgraph.fix.model import Candidate
from fullgraph.fix.source.break_ids import DYNAMIC_SHAPE_OPERATOR
from fullgraph.fix.source.context import BreakContext

TITLE = "data-dependent output size → unbacked symbol in the graph"
KIND = "setting"
SAFETY = "exact"
# Seen on torch 2.13: inductor drops the error of an operator without elements, and takes a size
# that depends on data for one that it is not.
ASSUMES = ("with inductor, no size that depends on data is 0 or 1",)
# After `capture_scalar_outputs`, which changes less.
ORDER = 1
IDS = (DYNAMIC_SHAPE_OPERATOR,)
CATEGORIES = ("data-dependent", "dynamic-shapes")


def propose(context: BreakContext) -> Iterator[Proposal]:
    """Yield the settings."""
    yield Candidate(
        settings={"capture_dynamic_output_shape_ops": True, "capture_scalar_outputs": True}
    )

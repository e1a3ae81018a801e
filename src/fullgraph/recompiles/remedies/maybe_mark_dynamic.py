"""Mark changing sizes of an argument as dynamic before the call, unless the code specializes them.

The first compile then fits all sizes but 0 and 1. Sizes that change together are marked together.
Unlike `mark_dynamic`, it raises no error where the code needs a particular size.
"""

from __future__ import annotations

from collections.abc import Iterator

from fullgraph.model.report import RecompileGroup
from fullgraph.recompiles.candidate import Candidate
from fullgraph.recompiles.context import ProgramContext
from fullgraph.recompiles.features import has_feature
from fullgraph.recompiles.remedies._marking import marked_sizes

TITLE = "torch._dynamo.maybe_mark_dynamic before the call"
KIND = "source"
ORDER = 20
DYNAMIC = True


def propose(group: RecompileGroup, context: ProgramContext) -> Iterator[Candidate]:
    """Yield the marking of all sizes that change in a group."""
    if has_feature("maybe_mark_dynamic"):
        yield from marked_sizes(group, context, "torch._dynamo.maybe_mark_dynamic")

"""Mark changing sizes of an argument as unbacked before the call.

One compile then fits all sizes, also 0 and 1, which are special for sizes that are only dynamic.
Code that decides by the size breaks or raises, so it is offered only if no call can get to such
code, and shown after all other remedies that help.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from fullgraph.model.report import RecompileGroup
from fullgraph.recompiles.candidate import Candidate
from fullgraph.recompiles.context import ProgramContext
from fullgraph.recompiles.features import has_feature
from fullgraph.recompiles.remedies._marking import marked_sizes, sizes_are_free

TITLE = "torch._dynamo.decorators.mark_unbacked before the call"
KIND = "source"
ORDER = 45


def propose(group: RecompileGroup, context: ProgramContext) -> Iterator[Candidate]:
    """Yield the marking if a size is 0 or 1 in some call."""
    if not has_feature("mark_unbacked") or not {"0", "1"} & set(group.values):
        return
    if not sizes_are_free(group, context):
        return
    for candidate in marked_sizes(group, context, "torch._dynamo.decorators.mark_unbacked"):
        yield msgspec.structs.replace(candidate, needs_free_sizes=True, comes_last=True)

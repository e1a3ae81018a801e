"""Mark changing sizes of an argument as dynamic before the call.

Like `maybe_mark_dynamic`, but torch raises an error where the code needs a particular size. It is
offered only if no compiled code compares the size with anything when the program is replayed, and
if no other call can get to code that does.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from fullgraph.model.report import RecompileGroup
from fullgraph.recompiles.candidate import Candidate
from fullgraph.recompiles.context import ProgramContext
from fullgraph.recompiles.remedies._marking import marked_sizes, sizes_are_free

TITLE = "torch._dynamo.mark_dynamic before the call"
KIND = "source"
ORDER = 25
DYNAMIC = True


def propose(group: RecompileGroup, context: ProgramContext) -> Iterator[Candidate]:
    """Yield the marking of all sizes that change in a group."""
    if not sizes_are_free(group, context):
        return
    for candidate in marked_sizes(group, context, "torch._dynamo.mark_dynamic"):
        yield msgspec.structs.replace(candidate, needs_free_sizes=True)

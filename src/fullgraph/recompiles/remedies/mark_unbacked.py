"""Mark changing sizes of an argument as unbacked before the call.

One compile then fits all sizes, also 0 and 1, which are special for sizes that are only dynamic.
Code that decides by the size breaks or raises, which the replay shows.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from fullgraph.model.report import RecompileGroup
from fullgraph.recompiles.candidate import Candidate
from fullgraph.recompiles.context import ProgramContext
from fullgraph.recompiles.features import has_feature
from fullgraph.recompiles.remedies._marking import marked_sizes

TITLE = "torch._dynamo.decorators.mark_unbacked before the call"
KIND = "source"
ORDER = 12


def propose(group: RecompileGroup, context: ProgramContext) -> Iterator[Candidate]:
    """Yield the marking if a size is 0 or 1 in some call."""
    if has_feature("mark_unbacked") and {"0", "1"} & set(group.values):
        name = "torch._dynamo.decorators.mark_unbacked"
        for candidate in marked_sizes(group, context, name):
            yield msgspec.structs.replace(candidate, needs_free_sizes=True)

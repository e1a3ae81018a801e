"""Compile a few sizes that matter on their own, and one graph for all others.

`mark_dynamic(x, dim, specialize_on=[…])` is for the sizes that most calls have. As `mark_dynamic`
does, it raises an error where code needs a particular size, so the patch is offered only if no call
can get to such code.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import msgspec

from fullgraph.model.report import RecompileGroup
from fullgraph.recompiles.candidate import Candidate
from fullgraph.recompiles.context import ProgramContext
from fullgraph.recompiles.features import has_feature
from fullgraph.recompiles.remedies._marking import marked_sizes, sizes_are_free
from fullgraph.recompiles.source_changes import argument_sizes

TITLE = "mark_dynamic(specialize_on=…)"
KIND = "source"
ORDER = 26
DYNAMIC = True

_MOST_SIZES = 2
_FUNCTION = "torch._dynamo.mark_dynamic"


def propose(group: RecompileGroup, context: ProgramContext) -> Iterator[Candidate]:
    """Yield the marking where a size comes back."""
    if group.kind != "size" or group.place != "argument" or not has_feature("specialize_on"):
        return
    common = [size for size, count in Counter(group.values).most_common(_MOST_SIZES) if count > 1]
    common = [size for size in common if size.isdecimal()]
    if not common:
        return
    checks = ", ".join(f"lambda size: size == {size}" for size in common)
    options = f", specialize_on=[{checks}]"
    if len(argument_sizes(group, context)) == 1 and sizes_are_free(group, context):
        for candidate in marked_sizes(group, context, _FUNCTION, options):
            yield msgspec.structs.replace(candidate, needs_free_sizes=True)
    else:
        text = f"{_FUNCTION}({group.name}, {group.dim}{options})"
        yield Candidate(text, where=group.called_at)

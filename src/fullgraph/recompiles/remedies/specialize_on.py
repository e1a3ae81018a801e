"""Compile a few sizes that matter on their own, and one graph for all others.

`mark_dynamic(x, dim, specialize_on=[…])` is for the sizes that most calls have.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from fullgraph.model.report import RecompileGroup
from fullgraph.recompiles.candidate import Candidate
from fullgraph.recompiles.context import ProgramContext
from fullgraph.recompiles.features import has_feature

TITLE = "mark_dynamic(specialize_on=…)"
KIND = "rewrite"
ORDER = 86

_MOST_SIZES = 2


def propose(group: RecompileGroup, context: ProgramContext) -> Iterator[Candidate]:
    """Yield the advice where a size comes back."""
    del context
    if group.kind != "size" or group.place != "argument" or not has_feature("specialize_on"):
        return
    common = [size for size, count in Counter(group.values).most_common(_MOST_SIZES) if count > 1]
    if common:
        checks = ", ".join(f"lambda size: size == {size}" for size in common)
        yield Candidate(
            f"torch._dynamo.mark_dynamic({group.name}, {group.dim}, specialize_on=[{checks}])",
            where=group.called_at,
        )

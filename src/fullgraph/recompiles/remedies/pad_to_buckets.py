"""Pad sizes to a few buckets, so that only as many sizes are ever compiled."""

from __future__ import annotations

from collections.abc import Iterator

from fullgraph.model.report import RecompileGroup
from fullgraph.recompiles.candidate import Candidate
from fullgraph.recompiles.context import ProgramContext

TITLE = "padding to buckets"
KIND = "rewrite"
ORDER = 85


def propose(group: RecompileGroup, context: ProgramContext) -> Iterator[Candidate]:
    """Yield the advice for sizes and lengths of arguments."""
    del context
    if group.place != "argument" or len(set(group.values)) < 3:
        return
    if group.kind == "size":
        text = f"pad {group.name} to a few sizes, such as powers of two, and mask the rest"
        yield Candidate(text, where=group.bound_at or group.called_at)
    elif group.kind == "length":
        text = f"pad {group.name} to a few lengths, or stack it into one tensor before the call"
        yield Candidate(text, where=group.bound_at or group.called_at)

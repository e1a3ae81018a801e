"""Mark a tensor in every call or in none: Dynamo guards on which dimensions are marked."""

from __future__ import annotations

from collections.abc import Iterator

from fullgraph.model.report import RecompileGroup
from fullgraph.recompiles.candidate import Candidate
from fullgraph.recompiles.context import ProgramContext

TITLE = "the same marking in every call"
KIND = "rewrite"
ORDER = 70


def propose(group: RecompileGroup, context: ProgramContext) -> Iterator[Candidate]:
    """Yield the advice for a tensor whose marking changes."""
    del context
    if group.kind == "marking":
        text = f"mark {group.name} in every call, or make the size static with mark_static"
        yield Candidate(text, where=group.bound_at or group.called_at)

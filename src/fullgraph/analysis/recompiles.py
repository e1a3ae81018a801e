"""Recompiles: frames whose compiled code did not fit new inputs, with every guard that failed."""

from __future__ import annotations

from fullgraph.analysis.occurrences import qualified_name
from fullgraph.analysis.state import AnalysisState
from fullgraph.model.events import Recompile
from fullgraph.model.report import RecompileFinding


def list_recompiles(state: AnalysisState) -> tuple[RecompileFinding, ...]:
    """Return the recompiles in the order in which they happened."""
    return tuple(
        RecompileFinding(
            compile=event.compile,
            function=event.code.function,
            qualified=qualified_name(event.code),
            file=event.code.file,
            line=event.code.line,
            owner=state.owners.owner_of(event.code.file),
            failures=event.failures,
            limit=event.limit,
            limit_value=event.limit_value,
        )
        for _, event in state.events(Recompile)
    )

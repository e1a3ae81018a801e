"""Name values that a function keeps across a graph break, such as the result of the call there."""

from __future__ import annotations

from fullgraph.analysis.state import AnalysisState
from fullgraph.model.events import Code, GuardChange


def name_at_break(state: AnalysisState, code: Code, change: GuardChange) -> str:
    """Return the name of a changed value in the words of the program."""
    return change.name

"""Compiles: their graphs and their errors."""

from __future__ import annotations

from fullgraph.analysis.state import AnalysisState, CompileKey
from fullgraph.model.events import Compile, Graph
from fullgraph.model.report import Failure, GraphFinding


def compiles_by_id(state: AnalysisState) -> dict[CompileKey, Compile]:
    """Return the compiles of all processes that finished, by process and compile id."""
    return {(process, event.id): event for process, event in state.events(Compile)}


def list_graphs(state: AnalysisState) -> tuple[GraphFinding, ...]:
    """Return the graphs in the order in which they were compiled."""
    return tuple(
        GraphFinding(
            graph.compile,
            graph.root.function,
            graph.root.file,
            graph.root.line,
            graph.ops,
            graph.backend,
        )
        for _, graph in state.events(Graph)
    )


def list_errors(state: AnalysisState) -> tuple[Failure, ...]:
    """Return the compiles that ended in an error other than a graph break."""
    return tuple(
        Failure(
            event.id,
            event.code.function,
            event.code.file,
            event.code.line,
            event.outcome,
            event.error,
        )
        for event in state.result(compiles_by_id).values()
        if event.error
    )

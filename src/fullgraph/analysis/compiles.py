"""Compiles: their graphs and their errors."""

from __future__ import annotations

from fullgraph.analysis.state import AnalysisState, CompileKey
from fullgraph.model.events import Compile, Frame, Graph, Reason, Recompile, Stack
from fullgraph.model.report import Failure, GraphFinding


def compiles_by_id(state: AnalysisState) -> dict[CompileKey, Compile]:
    """Return the compiles of all processes that finished, by process and compile id."""
    return {(process, event.id): event for process, event in state.events(Compile)}


def refused_compiles(state: AnalysisState) -> set[CompileKey]:
    """Return the compiles that a limit forbade before they started."""
    return {(process, event.compile) for process, event in state.events(Recompile) if event.limit}


def raising_compiles(state: AnalysisState) -> set[CompileKey]:
    """Return the compiles that ended in an error."""
    return {key for key, event in state.result(compiles_by_id).items() if event.error}


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
        _failure(state, event) for event in state.result(compiles_by_id).values() if event.error
    )


def _failure(state: AnalysisState, event: Compile) -> Failure:
    stack = event.error_stack or Stack(
        (Frame(event.code.file, event.code.line, event.code.function),)
    )
    reason = event.error_reason or Reason(event.error_type)
    frame = stack.frames[-1]
    return Failure(
        compile=event.id,
        function=event.code.function,
        file=frame.file,
        line=frame.line,
        outcome=event.outcome,
        error=event.error,
        id=reason.id,
        type=event.error_type,
        explanation=reason.explanation,
        hints=reason.hints,
        owner=state.owners.owner_of_stack(stack.frames),
        via=state.owners.line_of_user(frame, stack.frames),
        stack=stack.frames,
        excerpt=stack.excerpt,
        column=frame.column,
        end_line=frame.end_line,
        end_column=frame.end_column,
        shown=state.owners.shown_frame(frame, stack.frames),
    )

"""The summary of a report: its counts, its environment and what could not be captured."""

from __future__ import annotations

from fullgraph.analysis.causes import rank_causes
from fullgraph.analysis.compiles import compiles_by_id
from fullgraph.analysis.occurrences import list_occurrences
from fullgraph.analysis.recompiles import list_recompiles
from fullgraph.analysis.sites import break_sites
from fullgraph.analysis.skipped_frames import find_skipped_frames
from fullgraph.analysis.state import AnalysisState
from fullgraph.model.events import Backward, End, Graph, Problem, Settings
from fullgraph.model.owners import package_folders
from fullgraph.model.report import Environment, Summary


def summarize(state: AnalysisState) -> Summary:
    """Return the counts of the report."""
    finished = state.result(compiles_by_id).values()
    compiles = [event for event in finished if event.outcome != "limit"]
    graphs = state.events(Graph)
    # The time of a nested compile is part of the outer one.
    seconds = sum(event.seconds for event in compiles if not event.nested)
    seconds += sum(event.seconds for _, event in state.events(Backward))
    return Summary(
        causes=len(state.result(rank_causes)),
        sites=len(state.result(break_sites)),
        occurrences=len(state.result(list_occurrences)),
        skipped_frames=len(state.result(find_skipped_frames)),
        compiles=len(compiles),
        recompiles=len(state.result(list_recompiles)),
        graphs=len(graphs),
        ops=sum(graph.ops for _, graph in graphs),
        compile_seconds=round(seconds, 3),
    )


def describe_environment(state: AnalysisState) -> Environment:
    """Return where the sessions come from, and the settings at the end of the last one."""
    programs = [header for header in state.headers if header.role == "program"]
    # Only the runner knows the command that the user typed.
    first = next((h for h in state.headers if h.role == "runner"), state.headers[0])
    settings = state.events(Settings)
    return Environment(
        fullgraph=first.fullgraph,
        torch=", ".join(dict.fromkeys(h.torch for h in state.headers if h.torch)),
        python=first.python,
        platform=first.platform,
        command=first.command,
        directory=first.directory,
        processes=len(programs),
        killed=len(programs) - _ended(state),
        settings=settings[-1][1].values if settings else {},
        package_folders=package_folders(state.headers),
    )


def _ended(state: AnalysisState) -> int:
    """Return how many processes of the program ended by themselves."""
    ends = {process for process, _ in state.events(End)}
    return sum(state.headers[process].role == "program" for process in ends)


def list_problems(state: AnalysisState) -> tuple[Problem, ...]:
    """Return what could not be captured or read back."""
    unread = [Problem(warning) for session in state.sessions for warning in session.warnings]
    return (*unread, *(problem for _, problem in state.events(Problem)))

"""The summary of a report: its counts, its environment and what could not be captured."""

from __future__ import annotations

import shlex
from collections import Counter

from fullgraph.analysis.causes import rank_causes
from fullgraph.analysis.compiles import compiles_by_id, refused_compiles
from fullgraph.analysis.occurrences import list_occurrences
from fullgraph.analysis.recompiles import list_recompiles
from fullgraph.analysis.sites import break_sites
from fullgraph.analysis.skipped_frames import find_skipped_frames
from fullgraph.analysis.state import AnalysisState
from fullgraph.model.events import Backward, End, Graph, Problem, Settings
from fullgraph.model.owners import package_folders
from fullgraph.model.report import Environment, Summary

_MOST_COMMANDS = 5
_LONGEST_COMMAND = 100


def summarize(state: AnalysisState) -> Summary:
    """Return the counts of the report."""
    refused = state.result(refused_compiles)
    finished = state.result(compiles_by_id).items()
    compiles = [event for key, event in finished if key not in refused]
    graphs = state.events(Graph)
    recompiles = state.result(list_recompiles)
    # The time of a nested compile is part of the outer one.
    seconds = sum(event.seconds for event in compiles if not event.nested)
    seconds += sum(event.seconds for _, event in state.events(Backward))
    return Summary(
        causes=len(state.result(rank_causes)),
        sites=len(state.result(break_sites)),
        occurrences=len(state.result(list_occurrences)),
        skipped_frames=len(state.result(find_skipped_frames)),
        compiles=len(compiles),
        recompiles=sum(not each.limit for each in recompiles),
        refused=sum(bool(each.limit) for each in recompiles),
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
    problems = [problem for _, problem in state.events(Problem)]
    uncaptured = [problem.command for problem in problems if problem.command]
    others = [problem for problem in problems if not problem.command]
    return (*unread, *others, *([_describe_uncaptured(uncaptured)] if uncaptured else []))


def _describe_uncaptured(commands: list[tuple[str, ...]]) -> Problem:
    """Return one problem for all child processes that could not be captured."""
    number = len(commands)
    counts = Counter(_short_command(command) for command in commands)
    shown = [text if times == 1 else f"{text} ({times} times)" for text, times in counts.items()]
    if len(shown) > _MOST_COMMANDS:
        shown[_MOST_COMMANDS:] = [f"{len(shown) - _MOST_COMMANDS} more"]
    processes = "a Python process was" if number == 1 else f"{number} Python processes were"
    what = "whatever it compiled" if number == 1 else "whatever they compiled"
    return Problem(
        f"{processes} started without fullgraph's environment: {', '.join(shown)}; {what} is not "
        "in this report"
    )


def _short_command(command: tuple[str, ...]) -> str:
    """Return a command on one line, with the name of the interpreter only."""
    first = command[0].replace("\\", "/").rsplit("/", 1)[-1]
    text = " ".join(shlex.join((first, *command[1:])).split())
    return text if len(text) <= _LONGEST_COMMAND else f"{text[: _LONGEST_COMMAND - 1]}…"

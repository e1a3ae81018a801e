"""Occurrences of graph breaks: how each one ended, and which of them are one break site."""

from __future__ import annotations

from dataclasses import dataclass

from fullgraph.analysis.compiles import compiles_by_id
from fullgraph.analysis.state import AnalysisState, CompileKey
from fullgraph.model.events import Break, Code, Frame, Resumption


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One graph break, with the number of its process and how it ended."""

    index: int
    process: int
    event: Break
    outcome: Resumption

    @property
    def compile(self) -> CompileKey:
        """The compile in which the break happened."""
        return self.process, self.event.compile


def list_occurrences(state: AnalysisState) -> list[Occurrence]:
    """Return all occurrences in their order.

    Before torch 2.11, Dynamo logged a break in a loop as if tracing resumed, and then skipped the
    frame. The last break of a skipped compile therefore counts as skipped.
    """
    breaks = state.events(Break)
    last = {(process, event.compile): index for index, (process, event) in enumerate(breaks)}
    compiles = state.result(compiles_by_id)
    skipped = {
        index
        for key, index in last.items()
        if key in compiles and compiles[key].outcome == "skipped"
    }
    return [
        Occurrence(index, process, event, "skipped" if index in skipped else event.outcome)
        for index, (process, event) in enumerate(breaks)
    ]


def occurrences_by_site(state: AnalysisState) -> dict[str, list[Occurrence]]:
    """Return the occurrences of each break site by its key, in the order of the first ones."""
    found: dict[str, list[Occurrence]] = {}
    for occurrence in state.result(list_occurrences):
        found.setdefault(site_key(occurrence), []).append(occurrence)
    return found


def site_key(occurrence: Occurrence) -> str:
    """Return the key of the break site: the type of the break and its location."""
    frame = break_frame(occurrence)
    column = "" if frame.column is None else f":{frame.column}"
    # Generated code has no file; its line numbers are ambiguous without the function.
    function = f" {frame.function}" if frame.file.startswith("<") else ""
    return f"{occurrence.event.reasons[0].type} @ {frame.file}:{frame.line}{column}{function}"


def break_frame(occurrence: Occurrence) -> Frame:
    """Return the frame of the break; the start of the function if tracing had not begun."""
    event = occurrence.event
    if event.stack.frames and event.stack.traced:
        return event.stack.frames[-1]
    return Frame(event.root.file, event.root.line, event.root.function)


def qualified_name(code: Code) -> str:
    """Return the name of a function, with its class where that is known."""
    return code.qualified or code.function

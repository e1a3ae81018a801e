"""Occurrences of graph breaks: how each one ended, and which of them are one break site."""

from __future__ import annotations

from dataclasses import dataclass, replace

import msgspec

from fullgraph.analysis.compiles import compiles_by_id
from fullgraph.analysis.state import AnalysisState, CompileKey
from fullgraph.model.events import Break, Code, Frame, Resumption

DATA_DEPENDENT_BRANCH = "Data-dependent branching"
# The name of Dynamo's function that resumes after a break, in every release since 2.8.
_COUNTING_FUNCTION = "wrapper"


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One graph break, with the number of its process and how it ended."""

    index: int
    process: int
    event: Break
    outcome: Resumption
    # Whether torch's own counter includes it.
    counted: bool = False

    @property
    def compile(self) -> CompileKey:
        """The compile in which the break happened."""
        return self.process, self.event.compile


def list_occurrences(state: AnalysisState) -> list[Occurrence]:
    """Return all occurrences in their order.

    If Dynamo fails to handle a break, it starts again and logs the same break once more, perhaps at
    another column. The events of one type and line in several attempts of one compile are therefore
    one occurrence, which ended as the last one did. Nothing resumes in a frame that was skipped,
    though Dynamo logs some breaks as if it would.
    """
    compiles = state.result(compiles_by_id)
    found: list[Occurrence] = []
    newest: dict[tuple[CompileKey, str, str, int], int] = {}
    for process, event in state.events(Break):
        compiled = compiles.get((process, event.compile))
        is_skipped = compiled is not None and compiled.outcome == "skipped"
        outcome = "skipped" if is_skipped else event.outcome
        frame = _break_frame(event)
        key = (process, event.compile), event.reasons[0].type, frame.file, frame.line
        index = newest.get(key)
        if index is not None and event.attempt > found[index].event.attempt:
            counted = found[index].counted or _is_counted(event)
            found[index] = replace(found[index], outcome=outcome, counted=counted)
        else:
            newest[key] = len(found)
            found.append(Occurrence(len(found), process, event, outcome, _is_counted(event)))
    return _with_known_columns(found)


def _with_known_columns(occurrences: list[Occurrence]) -> list[Occurrence]:
    """Return the occurrences; one without a column gets that of the same break elsewhere.

    Up to torch 2.12 the column of a break is known only in some situations.
    """
    known: dict[tuple[str, str, int], set[Frame]] = {}
    for occurrence in occurrences:
        if break_frame(occurrence).column is not None:
            known.setdefault(_location(occurrence), set()).add(break_frame(occurrence))
    completed = []
    for occurrence in occurrences:
        frames = known.get(_location(occurrence), set())
        lacks_column = break_frame(occurrence).column is None and occurrence.event.stack.traced
        is_clear = len(frames) == 1
        completed.append(_at(occurrence, *frames) if lacks_column and is_clear else occurrence)
    return completed


def _location(occurrence: Occurrence) -> tuple[str, str, int]:
    frame = break_frame(occurrence)
    return occurrence.event.reasons[0].type, frame.file, frame.line


def _at(occurrence: Occurrence, frame: Frame) -> Occurrence:
    """Return the occurrence with another innermost frame."""
    stack = occurrence.event.stack
    stack = msgspec.structs.replace(stack, frames=(*stack.frames[:-1], frame))
    return replace(occurrence, event=msgspec.structs.replace(occurrence.event, stack=stack))


def _is_counted(event: Break) -> bool:
    """Return whether torch counts a break: where tracing resumes after an `Unsupported`.

    A break at a branch on a tensor, and one after which the rest of the function runs in eager
    mode, are logged elsewhere and are not counted.
    """
    if not event.logged_by:
        # Sessions of older versions do not say where a break was logged.
        is_jump = event.reasons[0].type == DATA_DEPENDENT_BRANCH and event.stack.traced == 1
        return event.outcome == "resumed" and not is_jump
    return event.logged_by == _COUNTING_FUNCTION and event.error == "Unsupported"


def occurrences_by_site(state: AnalysisState) -> dict[str, list[Occurrence]]:
    """Return the occurrences of each break site by its key, in the order of the first ones."""
    found: dict[str, list[Occurrence]] = {}
    for occurrence in state.result(list_occurrences):
        found.setdefault(site_key(occurrence), []).append(occurrence)
    return found


def site_key(occurrence: Occurrence) -> str:
    """Return the key of the break site: the type of the break and its location."""
    return _site_key(occurrence.event)


def _site_key(event: Break) -> str:
    frame = _break_frame(event)
    column = "" if frame.column is None else f":{frame.column}"
    # Generated code has no file; its line numbers are ambiguous without the function.
    function = f" {frame.function}" if frame.file.startswith("<") else ""
    return f"{event.reasons[0].type} @ {frame.file}:{frame.line}{column}{function}"


def break_frame(occurrence: Occurrence) -> Frame:
    """Return the frame of the break; the start of the function if tracing had not begun."""
    return _break_frame(occurrence.event)


def _break_frame(event: Break) -> Frame:
    if event.stack.frames and event.stack.traced:
        return event.stack.frames[-1]
    return Frame(event.root.file, event.root.line, event.root.function)


def qualified_name(code: Code) -> str:
    """Return the name of a function, with its class where that is known."""
    return code.qualified or code.function

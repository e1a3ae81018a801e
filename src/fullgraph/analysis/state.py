"""The book that the passes write into: events of all processes, then what was made of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from fullgraph.errors import SessionError
from fullgraph.model.events import (
    Backward,
    Break,
    Compile,
    End,
    Graph,
    Problem,
    Recompile,
    Resumption,
    Settings,
    Skip,
)
from fullgraph.model.owners import Owners
from fullgraph.model.report import (
    Cause,
    Disagreement,
    EagerFrame,
    RecompileFinding,
    Site,
)
from fullgraph.model.session import Header, Session

# A compile id is unique only within its process: (which process, compile id).
CompileKey = tuple[int, str]


@dataclass
class Occurrence:
    """A break, with the process it belongs to and, after `settle_outcomes`, how it ended."""

    index: int
    process: int
    event: Break
    outcome: Resumption

    @property
    def compile(self) -> CompileKey:
        return self.process, self.event.compile


@dataclass
class Ledger:
    headers: list[Header]
    owners: Owners
    occurrences: list[Occurrence] = field(default_factory=list)
    compiles: dict[CompileKey, Compile] = field(default_factory=dict)
    skips: list[Skip] = field(default_factory=list)
    graphs: list[tuple[int, Graph]] = field(default_factory=list)
    recompile_events: list[Recompile] = field(default_factory=list)
    backwards: list[Backward] = field(default_factory=list)
    settings: dict[str, bool | int | float | str | None] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    ended: int = 0

    # Written by the passes.
    sites: dict[str, Site] = field(default_factory=dict)
    occurrences_of: dict[str, list[Occurrence]] = field(default_factory=dict)
    eager_frames: list[EagerFrame] = field(default_factory=list)
    causes: list[Cause] = field(default_factory=list)
    recompiles: list[RecompileFinding] = field(default_factory=list)
    disagreements: list[Disagreement] = field(default_factory=list)


def open_ledger(sessions: Sequence[Session]) -> Ledger:
    if not sessions:
        raise SessionError("there is no session to report on")
    ledger = Ledger([s.header for s in sessions], Owners([s.header for s in sessions]))
    for process, session in enumerate(sessions):
        ledger.problems += [Problem(warning) for warning in session.warnings]
        for event in session.events:
            _enter(ledger, process, event)
    return ledger


def _enter(ledger: Ledger, process: int, event: object) -> None:
    match event:
        case Break():
            index = len(ledger.occurrences)
            ledger.occurrences.append(Occurrence(index, process, event, event.outcome))
        case Compile():
            ledger.compiles[process, event.id] = event
        case Skip():
            ledger.skips.append(event)
        case Graph():
            ledger.graphs.append((process, event))
        case Recompile():
            ledger.recompile_events.append(event)
        case Backward():
            ledger.backwards.append(event)
        case Settings():
            ledger.settings = event.values
        case Problem():
            ledger.problems.append(event)
        case End() if ledger.headers[process].role == "program":
            ledger.ended += 1

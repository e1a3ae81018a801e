"""State shared by the analysis passes: the events of all processes and the results of each pass."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from fullgraph.errors import SessionError
from fullgraph.model.events import Event
from fullgraph.model.owners import Owners
from fullgraph.model.session import Header, Session

# A compile id is unique only within its process: the number of the process and the compile id.
CompileKey = tuple[int, str]

_Event = TypeVar("_Event", bound=Event)
_Result = TypeVar("_Result")


class AnalysisState:
    """Gives passes the captured events and the results of other passes."""

    def __init__(self, sessions: Sequence[Session]) -> None:
        if not sessions:
            raise SessionError("there is no session to report on; start one with fullgraph run")
        self.sessions = tuple(sessions)
        self.headers: tuple[Header, ...] = tuple(session.header for session in sessions)
        self.owners = Owners(self.headers)
        self._events: dict[type[Any], list[tuple[int, Any]]] = {}
        for process, session in enumerate(sessions):
            for event in session.events:
                self._events.setdefault(type(event), []).append((process, event))
        self._results: dict[Callable[[AnalysisState], Any], Any] = {}

    def events(self, kind: type[_Event]) -> list[tuple[int, _Event]]:
        """Return all events of a type in their order, each with the number of its process."""
        return self._events.get(kind, [])

    def result(self, analysis: Callable[[AnalysisState], _Result]) -> _Result:
        """Return the result of a pass, which runs at most once."""
        if analysis not in self._results:
            self._results[analysis] = analysis(self)
        found: _Result = self._results[analysis]
        return found

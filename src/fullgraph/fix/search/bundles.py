"""Bundles: candidates for different breaks that one trial runs together.

A bundle has at most one candidate for each break. Each is proposed on the text that those before it
have left. No candidate changes a line on the way to the break of another one, so none can make
another one unnecessary.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from fullgraph.fix.model import Candidate, FixPlan
from fullgraph.fix.search.state import Attempt, SearchState, lines_touched
from fullgraph.fix.source.edits import EditConflictError
from fullgraph.fix.source.program import ProgramSource
from fullgraph.model.report import RootCause

Line = tuple[str, int]
# From a break under a plan to its candidates that are worth a try; the second argument is the same
# break under the plan of the search's state.
Propose = Callable[[ProgramSource, RootCause, RootCause], Iterable[Candidate]]


class _Bundle:
    def __init__(self, state: SearchState) -> None:
        self._state = state
        self.attempts: list[Attempt] = []
        self.source = state.source
        self._changed: set[Line] = set()
        self._reached: set[Line] = set()

    def carried(self, cause: RootCause) -> RootCause | None:
        """Return a break of the state's program under the plan with this bundle, if it can be."""
        return self._state.source.carried(cause, self.source) if self.attempts else cause

    def add(self, cause: RootCause, candidate: Candidate) -> bool:
        """Add a candidate if it is independent of the others; return whether it is."""
        changed = lines_touched(candidate)
        reached = self._state.source.original_lines(cause)
        if changed & self._reached or reached & self._changed:
            return False
        plan = plan_or_none(self._state, [*self.attempts, (cause, candidate)])
        if plan is None:
            return False
        self.attempts.append((cause, candidate))
        self._changed |= changed
        self._reached |= reached
        self.source = ProgramSource(plan.files)
        return True


def build_bundle(state: SearchState, propose: Propose) -> list[Attempt]:
    """Return the first candidate of each break, as far as they are independent."""
    bundle = _Bundle(state)
    for cause in state.causes:
        moved = bundle.carried(cause)
        if moved is None:
            continue
        candidate = next(iter(propose(bundle.source, moved, cause)), None)
        if candidate is not None:
            bundle.add(cause, candidate)
    return bundle.attempts


def plan_or_none(state: SearchState, attempts: Sequence[Attempt]) -> FixPlan | None:
    """Return the state's plan with some candidates; None if they do not fit together."""
    try:
        return state.plan_with(attempts)
    except EditConflictError:
        return None


def carried_attempts(
    attempts: Iterable[Attempt], before: ProgramSource, state: SearchState
) -> list[Attempt]:
    """Return the candidates that still fit after others were accepted or rejected.

    `before` is the program that their breaks were met in.
    """
    kept: list[Attempt] = []
    for cause, candidate in attempts:
        moved = before.carried(cause, state.source)
        is_left = moved is not None and _is_left(moved, state)
        if moved is not None and is_left and plan_or_none(state, [*kept, (moved, candidate)]):
            kept.append((moved, candidate))
    return kept


def _is_left(cause: RootCause, state: SearchState) -> bool:
    key = state.source.break_key(cause)
    return any(state.source.break_key(each) == key for each in state.causes)

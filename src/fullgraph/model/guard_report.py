"""The result of `fullgraph guards` as frozen structs. `docs/guards.md` describes it as JSON."""

from __future__ import annotations

from msgspec import Struct

from fullgraph.model.events import ChangePlace, Guard, Problem
from fullgraph.model.report import DynamicSizeFinding, Environment

GUARDS_FORMAT = 1


class GuardGroup(Struct, frozen=True):
    """The guards of one kind on values from one place, the most expensive first."""

    kind: str
    place: ChangePlace
    # The sum of their shares of a check; None if the check could not be timed.
    seconds: float | None
    guards: tuple[Guard, ...]


class GuardedCompile(Struct, frozen=True):
    """The guards of one piece of compiled code; `seconds` and `cold_seconds` are of one check."""

    compile: str
    guards: int
    seconds: float | None
    cold_seconds: float | None
    groups: tuple[GuardGroup, ...]


class GuardedFunction(Struct, frozen=True):
    """A compiled function, with its compiles in the order in which they happened."""

    function: str
    qualified: str
    file: str
    line: int
    owner: str
    # The line where it resumes after a graph break; None if it is not a continuation.
    resumed_at: int | None
    compiles: tuple[GuardedCompile, ...]

    @property
    def costliest(self) -> GuardedCompile | None:
        """The compile whose guards take the longest; None if there is none."""
        return max(self.compiles, key=lambda each: (each.seconds or 0.0, each.guards), default=None)


class GuardsReport(Struct, frozen=True):
    """What compiled code is guarded on, the function with the most expensive guards first."""

    format: int
    environment: Environment
    functions: tuple[GuardedFunction, ...]
    # The dynamic sizes of these functions.
    dynamic_sizes: tuple[DynamicSizeFinding, ...] = ()
    # What could not be captured or read back.
    problems: tuple[Problem, ...] = ()

"""The record of value guards: where each one reads a value, what it costs, and what was refused."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["value", "shape"]


@dataclass
class GuardTiming:
    """The cost of one guard, which checks all values that one frame reads."""

    reads: int = 0
    checked: int = 0
    seconds: float = 0.0


@dataclass(eq=False)
class GuardRecord:
    """One line of a program that reads a value, or a size that depends on values.

    `shown` is the value as text, `failed` the number of calls that had another value.
    """

    file: str
    line: int
    function: str
    input: str
    kind: Kind
    shown: str
    timing: GuardTiming = field(repr=False)
    failed: int = 0

    @property
    def checked(self) -> int:
        """Return how often the guard ran. Dynamo's own check after compiling is included."""
        return self.timing.checked

    @property
    def seconds(self) -> float:
        """Return this value's share of the time that the guard took."""
        return self.timing.seconds / max(1, self.timing.reads)


@dataclass(eq=False)
class GuardLog:
    """The guards that were added while a `value_guards` block was active.

    `refusals` maps (file, line, function) to the reason why a value read there is not known.
    `notes` holds events that concern a whole function, such as a reached limit.
    """

    guards: list[GuardRecord] = field(default_factory=list)
    refusals: dict[tuple[str, int, str], str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def refuse(self, file: str, line: int, function: str, reason: str) -> None:
        """Record why a value is not known; the first reason for a line is kept."""
        self.refusals.setdefault((file, line, function), reason)

    def note(self, text: str) -> None:
        """Add a note, unless the log has the same note already."""
        if text not in self.notes:
            self.notes.append(text)

"""What became of the value guards: where each came from, and what it costs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["value", "shape"]


@dataclass
class Tally:
    """How often one guard was asked, for all values that it stands for."""

    facts: int = 0
    checked: int = 0
    seconds: float = 0.0


@dataclass(eq=False)
class GuardFact:
    """One place of a program that reads a value, or a size that depends on values."""

    file: str
    line: int
    function: str
    input: str
    kind: Kind
    shown: str
    tally: Tally = field(repr=False)
    failed: int = 0

    @property
    def checked(self) -> int:
        """How often a call asked; Dynamo's own test after compiling is one of them."""
        return self.tally.checked

    @property
    def seconds(self) -> float:
        """This fact's share of the time that its guard took."""
        return self.tally.seconds / max(1, self.tally.facts)


@dataclass(eq=False)
class GuardLog:
    """The guards that were added while a `value_guards` block was running.

    `left` says what was asked for and is not known: place, function and reason. `notes` say what
    may be a surprise.
    """

    guards: list[GuardFact] = field(default_factory=list)
    left: dict[tuple[str, int, str], str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def leave(self, file: str, line: int, function: str, reason: str) -> None:
        self.left.setdefault((file, line, function), reason)

    def note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)

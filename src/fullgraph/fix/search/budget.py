"""How much CPU time a search may use: seconds of CPU time are the same on a busy machine."""

from __future__ import annotations

# The default: at least this, or so many times what running the program and its reference takes.
_LEAST_SECONDS = 60.0
_TIMES_THE_PROGRAM = 6.0


class Budget:
    """CPU seconds of the program and of all trials of its search.

    It bounds what is tried, never how thoroughly accepted fixes are verified.
    """

    def __init__(self, seconds: float | None = None, *, program_seconds: float = 0.0) -> None:
        self._given = seconds
        # Until the reference has run, a default is not known, and nothing is tried.
        self.seconds = _LEAST_SECONDS if seconds is None else seconds
        self.spent = program_seconds

    def spend(self, seconds: float) -> None:
        """Count the CPU time of a trial."""
        self.spent += seconds

    def grow(self) -> None:
        """Without a given limit, take one that fits what has been spent on the program so far."""
        if self._given is None:
            self.seconds = max(_LEAST_SECONDS, _TIMES_THE_PROGRAM * self.spent)

    @property
    def is_spent(self) -> bool:
        """Whether nothing more is to be tried."""
        return self.spent >= self.seconds

    def __str__(self) -> str:
        left = max(self.seconds - self.spent, 0.0)
        return f"{left:.0f} of {self.seconds:.0f} s of CPU time left"

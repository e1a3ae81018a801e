"""What the process that replays a program is asked, and what it answers."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from fullgraph.recompiles.candidate import ConfigValue

# done: the program has ended. worse: as many compiles as before, so it was stopped.
# differs: a call returned something else, so it was stopped. failed: the program raised an error.
# late: it was stopped because the time was over.
ReplayStatus = Literal["done", "worse", "differs", "failed", "late"]
OUTCOME_FILE = "outcome.json"
# The outcomes of a run of Dynamo that count as a compile.
COMPILED_OUTCOMES = ("compiled", "empty")


class ReplayRequest(Struct, frozen=True):
    """One run of the program with remedies in place."""

    target: tuple[str, ...]
    # Where the session, the results and the outcome go.
    folder: str
    seconds: float
    # The edited text of files, by their real path.
    texts: dict[str, str] = {}
    config: dict[str, ConfigValue] = {}
    seed: int | None = None
    # Whether Python's and NumPy's random numbers are seeded, too, and compiled code draws the
    # random numbers of eager mode.
    fixed: bool = False
    # The results to compare with; empty to write them.
    reference: str = ""
    # The functions whose first call may differ in whether its results need gradients.
    warmed_up: tuple[str, ...] = ()
    # The folder in which torch keeps what it learns for the next run; empty for its own.
    profile: str = ""
    # The program is stopped when it has compiled this often.
    max_compiles: int | None = None


class ReplayOutcome(Struct, frozen=True):
    """How a run ended."""

    status: ReplayStatus
    reason: str = ""
    calls: int = 0
    # Whether a compiled size is compared with something, so that other sizes may specialize.
    compares_sizes: bool = False

"""What the server tells the pipeline, as JSON lines. Imports no torch."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from fullgraph.where.report import Choice, CodeLine, NotTried

# What a worker does before it times rounds: find out how to time the calls and what to compile,
# keep the outcomes of eager mode, compare eager mode with them, or compile a choice.
Task = Literal["scout", "reference", "eager", "choice"]


class ChoiceFacts(Struct, frozen=True):
    """What the worker of one choice found."""

    choice: Choice
    first_seconds: float | None = None
    graphs: int = 0
    breaks: int = 0
    recompiles: int = 0
    refused: int = 0
    skipped_frames: int = 0
    later_compiles: int = 0
    problem: str = ""
    # Seconds of a mean call, by the number of the round.
    rounds: dict[int, float] = {}


class TargetFacts(Struct, frozen=True):
    """What is known about one outermost module or function so far."""

    name: str
    class_name: str
    is_function: bool
    compiled_at: tuple[CodeLine, ...]
    calls: int
    recorded: int
    raising: int = 0
    backward: bool = False
    # The first exception of a recorded call in eager mode; empty without one.
    raised: str = ""
    # Why outcomes cannot be compared; empty if they can.
    incomparable: str = ""
    # Lines that compile one of torch's own modules in place, which has no effect.
    no_effect: tuple[CodeLine, ...] = ()
    eager_rounds: dict[int, float] = {}
    choices: tuple[ChoiceFacts, ...] = ()
    not_tried: tuple[NotTried, ...] = ()
    # The names of choices that are still to be tried.
    waiting: tuple[str, ...] = ()
    # Why nothing of the target is tried; empty if it is.
    left_out: str = ""


class Recorded(Struct, frozen=True, tag=True):
    """The program has run in eager mode."""

    torch: str
    threads: int
    # The names of the outermost modules and compiled functions that were called.
    targets: tuple[str, ...]
    # The names of compiled functions and modules, called or not.
    compiled: tuple[str, ...]
    backend: str
    # The error that the program ended with, and the user's line of it; empty without one.
    error: str = ""
    details: str = ""
    # Whether the program was ended before its own end, because enough was recorded.
    ended: bool = False
    # The backend of `--backend` if torch does not know it.
    unknown_backend: str = ""


class Step(Struct, frozen=True, tag=True):
    """What the server does now."""

    text: str


class Update(Struct, frozen=True, tag=True):
    """Everything that is known about all targets so far."""

    targets: tuple[TargetFacts, ...]


Message = Recorded | Step | Update


class CallPlan(Struct, frozen=True):
    """How to time the recorded calls of a target; found out in eager mode."""

    # By the number of the call: whether it raises in eager mode, and whether a backward pass from
    # the sum of its outputs is possible.
    raises: tuple[bool, ...]
    backward: tuple[bool, ...]
    # Whether calls change the modules, so that these have to be restored after each call.
    mutates: bool
    # Whether outcomes can be compared: eager mode is deterministic.
    compares: bool = True


class EagerFacts(Struct, frozen=True):
    """What the first run in eager mode found."""

    plan: CallPlan
    choices: tuple[Choice, ...]
    not_tried: tuple[NotTried, ...]
    raised: str = ""


class WorkerRequest(Struct, frozen=True):
    """What a worker is to do before it times rounds."""

    task: Task
    # The place of the root in what was recorded; that of a program that is run again is the same.
    root: int
    backend: str
    threads: int
    # A folder for inductor's files, so that each choice compiles from the start.
    cache: str
    # The number of outermost calls after which a program that is run again is ended.
    calls: int
    plan: CallPlan | None = None
    choice: Choice | None = None


class RoundTime(Struct, frozen=True):
    """One round of a worker: seconds of a mean call, and whether something was compiled."""

    seconds: float
    compiles: int

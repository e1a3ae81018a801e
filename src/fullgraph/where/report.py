"""The result of `fullgraph where`. `docs/where.md` describes the same as JSON."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from fullgraph.model.cost import Estimate

WHERE_FORMAT = 1

# What is compiled: the outermost module, the function that the program compiles, all modules of a
# repeated kind, one submodule, or whatever the program itself compiles.
ChoiceKind = Literal["whole", "function", "blocks", "submodule", "today"]


class CodeLine(Struct, frozen=True):
    """A line of the program."""

    file: str
    line: int
    text: str


class Choice(Struct, frozen=True):
    """One place to apply `torch.compile`."""

    # Such as `model`, or `model.layers.*` for all of its layers.
    name: str
    kind: ChoiceKind
    # The class of the modules; empty for functions and for several classes.
    class_name: str
    # The number of modules or functions that are compiled.
    count: int
    # The lines to write; empty if the program already has them.
    code: tuple[str, ...]
    # Whether the program compiles just this.
    today: bool = False
    # For the worker: the modules, each as the number of its outermost module and its path.
    paths: tuple[tuple[int, str], ...] = ()


class Ratio(Struct, frozen=True):
    """How many times as fast a call is as in eager mode: the median of the rounds.

    The median is between `low` and `high` with a probability of 95%.
    """

    value: float
    low: float
    high: float


class ChoiceResult(Struct, frozen=True):
    """What was measured for one choice."""

    choice: Choice
    # The first calls, and the part of it that steady calls do not take.
    first_seconds: float | None = None
    compile_seconds: float | None = None
    # A steady call; None if it was not timed.
    steady: Estimate | None = None
    speedup: Ratio | None = None
    graphs: int = 0
    # Break sites.
    breaks: int = 0
    recompiles: int = 0
    # Calls of functions that ran in eager mode because a recompile limit was reached.
    refused: int = 0
    skipped_frames: int = 0
    # Compiles in later calls with the same inputs; there should be none.
    later_compiles: int = 0
    # Why the choice is not offered; empty if it is.
    problem: str = ""


class NotTried(Struct, frozen=True):
    """A choice that was not tried, and why."""

    name: str
    reason: str


class TargetReport(Struct, frozen=True):
    """The choices for one outermost module or compiled function of the program."""

    name: str
    class_name: str
    is_function: bool
    # The lines that compile it, or parts of it; empty if the program compiles nothing of it.
    compiled_at: tuple[CodeLine, ...]
    # The calls that the program makes, how many were recorded, and how many of these raise.
    calls: int
    recorded: int
    raising: int
    # Whether a timed call includes a backward pass from the sum of its outputs.
    backward: bool
    eager: Estimate | None
    choices: tuple[ChoiceResult, ...]
    not_tried: tuple[NotTried, ...]
    # The place of the recommended choice in `choices`; None for eager mode or if it is not known.
    chosen: int | None
    # What to do, in one line, and why.
    advice: str
    reason: str
    # Further facts that a reader has to know, such as calls that are not timed.
    notes: tuple[str, ...] = ()


class WhereReport(Struct, frozen=True):
    """Where to apply `torch.compile` in a program."""

    format: int
    torch: str
    backend: str
    threads: int
    seconds: float
    targets: tuple[TargetReport, ...]
    # Whether the program was ended early, because its calls were recorded.
    ended: bool = False
    interrupted: bool = False

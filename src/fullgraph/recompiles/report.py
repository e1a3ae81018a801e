"""The result of `fullgraph recompiles`. `docs/recompiles.md` describes the same as JSON."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from fullgraph.model.events import Frame
from fullgraph.model.report import DynamicSizeFinding, Environment, RecompileGroup

RECOMPILES_FORMAT = 1

# What a remedy changes: a source line, a setting in the source, an environment variable, code that
# the user has to rewrite, or a guard that is dropped (unsafe, never verified, never written).
RemedyKind = Literal["source", "setting", "environment", "rewrite", "unsafe"]


class Counts(Struct, frozen=True):
    """A count without and with a remedy."""

    before: int
    after: int


class ReplayResult(Struct, frozen=True):
    """What the program did when it ran again with a remedy."""

    compiles: Counts
    eager_calls: Counts
    breaks: Counts
    ops: Counts
    seconds_compiling_before: float
    seconds_compiling_after: float
    # The time of a steady call, relative to that without the remedy; None if it cannot be told.
    call_ratio: float | None
    outputs_equal: bool


class Remedy(Struct, frozen=True):
    """One thing to do about a group of recompiles."""

    # The name of the remedy's file.
    name: str
    kind: RemedyKind
    # What to do, in one line, and where.
    text: str
    where: Frame | None = None
    diff: str = ""
    # What could go wrong; only for unsafe remedies.
    risk: str = ""
    # None if the remedy was not replayed; `not_replayed` says why.
    replay: ReplayResult | None = None
    not_replayed: str = ""


class GroupAdvice(Struct, frozen=True):
    """A group of recompiles and what to do about it, the best remedy first."""

    group: RecompileGroup
    remedies: tuple[Remedy, ...] = ()
    # Why there is no advice, or why it was not replayed; empty if there is nothing to say.
    why: str = ""


class RecompilesSummary(Struct, frozen=True):
    """The counts of a program; docs/counting.md defines each of them."""

    compiles: int
    recompiles: int
    refused: int
    groups: int
    compile_seconds: float
    # None if calls were not captured.
    calls: int | None
    eager_calls: int | None
    # The calls in which a limit raised an error, as under fullgraph=True.
    raised_calls: int | None = None


class RecompilesReport(Struct, frozen=True):
    """Every group of recompiles of a program, with advice."""

    format: int
    environment: Environment
    summary: RecompilesSummary
    groups: tuple[GroupAdvice, ...]
    # Why nothing was replayed; empty if replaying was possible.
    not_replayed: str = ""
    # Which sizes are dynamic, since when and why, and which line specialized one.
    dynamic_sizes: tuple[DynamicSizeFinding, ...] = ()

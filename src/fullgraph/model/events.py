"""Raw facts, as captured. `docs/session-format.md` describes how they are written down."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

# The history of the session format; raise the number when an old reader would misread a new file.
#   1  header, break, compile, skip, graph, recompile, backward, settings, problem, end
FORMAT_VERSION = 1

Resumption = Literal["resumed", "cut", "skipped", "raised"]
CompileOutcome = Literal["compiled", "empty", "skipped", "limit", "raised"]


class Frame(Struct, frozen=True, omit_defaults=True):
    """One entry of a user's call stack. Columns count characters from 1, as editors do."""

    file: str
    line: int
    function: str
    column: int | None = None
    end_line: int | None = None
    end_column: int | None = None
    code: str = ""


class Reason(Struct, frozen=True, omit_defaults=True):
    """Why Dynamo stopped, in its own words, with the registry's id where there is one."""

    type: str
    id: str | None = None
    explanation: str = ""
    hints: tuple[str, ...] = ()
    context: str = ""


class Code(Struct, frozen=True, omit_defaults=True):
    """A function as Dynamo saw it. `resumed_at` is the line at which a cut function goes on."""

    file: str
    line: int
    function: str
    # The name with its class, `Model.forward`, where Python tells.
    qualified: str = ""
    resumed_at: int | None = None


class SourceLine(Struct, frozen=True, array_like=True):
    number: int
    text: str


class Stack(Struct, frozen=True, omit_defaults=True):
    """A user's stack, outermost frame first.

    The last `traced` frames are those that Dynamo was tracing; the ones before them called the
    compiled code. `excerpt` is the source around the innermost frame.
    """

    frames: tuple[Frame, ...]
    traced: int = 1
    excerpt: tuple[SourceLine, ...] = ()


class GuardFailure(Struct, frozen=True, omit_defaults=True):
    """What did not fit in one piece of code that had been compiled before: every failed guard."""

    compiled: str
    failed: tuple[str, ...]


class Break(Struct, frozen=True, tag="break", tag_field="event", omit_defaults=True):
    """Dynamo stopped tracing.

    `reasons` has more than one entry where a break was followed by another while it was handled;
    the first is the cause.
    """

    compile: str
    root: Code
    reasons: tuple[Reason, ...]
    stack: Stack
    outcome: Resumption = "resumed"
    attempt: int = 0


class Compile(Struct, frozen=True, tag="compile", tag_field="event", omit_defaults=True):
    """One run of Dynamo over one frame.

    `counted_breaks` and `counted_graphs` are what torch's own counters say happened meanwhile,
    and `counted_ops` is what its compilation metrics say; the ledger compares them with ours.
    """

    id: str
    code: Code
    outcome: CompileOutcome = "compiled"
    seconds: float = 0.0
    nested: bool = False
    guards: int | None = None
    restarts: tuple[str, ...] = ()
    error: str = ""
    # Functions that Dynamo did not try (see Skip) and that called this one.
    under: tuple[Code, ...] = ()
    counted_breaks: int = 0
    counted_graphs: int = 0
    counted_ops: int | None = None


class Skip(Struct, frozen=True, tag="skip", tag_field="event", omit_defaults=True):
    """Dynamo did not even try to trace a function that `torch.compile` was given."""

    code: Code
    reason: str = ""


class Graph(Struct, frozen=True, tag="graph", tag_field="event", omit_defaults=True):
    """One FX graph that was handed to a backend."""

    compile: str
    root: Code
    ops: int
    backend: str = ""


class Recompile(Struct, frozen=True, tag="recompile", tag_field="event", omit_defaults=True):
    """A frame that had compiled code did not fit it. `limit` names the setting that refused."""

    compile: str
    code: Code
    failures: tuple[GuardFailure, ...] = ()
    limit: str | None = None
    limit_value: int | None = None


class Backward(Struct, frozen=True, tag="backward", tag_field="event", omit_defaults=True):
    """A backward graph that a backend compiled later, when it was first needed."""

    compile: str
    seconds: float


class Settings(Struct, frozen=True, tag="settings", tag_field="event"):
    """The compile settings in force from here on."""

    values: dict[str, bool | int | float | str | None]


class Problem(Struct, frozen=True, tag="problem", tag_field="event", omit_defaults=True):
    """Something could not be captured. It is reported: a silent zero would be a lie.

    After a fatal one nothing at all was captured in that process.
    """

    message: str
    fatal: bool = False


class End(Struct, frozen=True, tag="end", tag_field="event"):
    """The process ended in an orderly way; without it, it was killed."""

    seconds: float


Event = Break | Compile | Skip | Graph | Recompile | Backward | Settings | Problem | End

"""The captured events of a session. `docs/session-format.md` describes them as JSON lines."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

# The history of the session format. Raise the number if an old reader would misread a new file.
#   1  header, break, compile, skip, graph, recompile, backward, settings, problem, end;
#      later also stance, call, guards, sizes, write and cost, which old readers skip
FORMAT_VERSION = 1

Resumption = Literal["resumed", "cut", "skipped", "raised"]
CompileOutcome = Literal["compiled", "empty", "skipped", "limit", "raised"]


class Frame(Struct, frozen=True, omit_defaults=True):
    """One frame of the user's call stack. Columns count characters from 1, as in editors."""

    file: str
    line: int
    function: str
    column: int | None = None
    end_line: int | None = None
    end_column: int | None = None
    code: str = ""


class Reason(Struct, frozen=True, omit_defaults=True):
    """Why Dynamo stopped tracing, in its own words, with the registry id; None if it has none."""

    type: str
    id: str | None = None
    explanation: str = ""
    hints: tuple[str, ...] = ()
    context: str = ""


class Code(Struct, frozen=True, omit_defaults=True):
    """A function that Dynamo compiles. `resumed_at` is the line where tracing resumed."""

    file: str
    line: int
    function: str
    # The name with its class, such as `Model.forward`; empty if it is not known.
    qualified: str = ""
    resumed_at: int | None = None


class SourceLine(Struct, frozen=True, array_like=True):
    """One line of source code."""

    number: int
    text: str


class Stack(Struct, frozen=True, omit_defaults=True):
    """The user's call stack, the outermost frame first.

    Dynamo was tracing the last `traced` frames; the frames before them called the compiled code.
    `excerpt` is the source around the innermost frame.
    """

    frames: tuple[Frame, ...]
    traced: int = 1
    excerpt: tuple[SourceLine, ...] = ()


# What about a value changes, and where the value comes from. docs/recompiles.md describes each.
ChangeKind = Literal[
    "size", "stride", "rank", "dtype", "device", "requires_grad", "aliasing",
    "int", "float", "str", "bool", "none", "length", "keys", "type", "identity", "marking",
    "grad_mode", "inference_mode", "autocast", "training", "num_threads", "default_dtype",
    "deterministic", "backend", "other",
]  # fmt: skip
ChangePlace = Literal[
    "argument", "attribute", "parameter", "global", "default", "closure", "torch", "break"
]


class GuardChange(Struct, frozen=True, omit_defaults=True):
    """A guarded fact that no longer held: its value when the code was compiled, and its new one."""

    kind: ChangeKind
    place: ChangePlace
    # Dynamo's expression for the value, such as `L['self'].k`, and the same for people: `self.k`.
    source: str
    name: str
    before: str = ""
    now: str = ""
    # For a size or a stride.
    dim: int | None = None
    # The guard in torch's words.
    guard: str = ""
    # The class of the object that has an attribute; the module of a global.
    holder: str = ""
    # The line that torch names as the reason for the guard.
    line: Frame | None = None
    # What else is known, such as "marked dynamic, but specialized".
    note: str = ""
    # Whether the value belongs to a module of `torch.nn`, also to an object that a module has.
    in_module: bool = False


class GuardFailure(Struct, frozen=True, omit_defaults=True):
    """Every guard that failed in one piece of compiled code."""

    compiled: str
    failed: tuple[str, ...]
    changes: tuple[GuardChange, ...] = ()


class Break(Struct, frozen=True, tag="break", tag_field="event", omit_defaults=True):
    """Dynamo stopped tracing.

    `reasons` has several entries if another break happened while Dynamo handled the first one.
    """

    compile: str
    root: Code
    reasons: tuple[Reason, ...]
    stack: Stack
    outcome: Resumption = "resumed"
    attempt: int = 0
    # The class of Dynamo's exception, and the function of Dynamo that logged it. Both decide
    # whether torch counts the break.
    error: str = ""
    logged_by: str = ""
    # The types of the iterators and context managers that the function created before an earlier
    # break. Dynamo knows how to trace them only where it saw their creation.
    carried: tuple[str, ...] = ()


class Compile(Struct, frozen=True, tag="compile", tag_field="event", omit_defaults=True):
    """One run of Dynamo over one frame.

    `counted_breaks` and `counted_graphs` come from torch's own counters, and `counted_ops` from its
    compilation metrics; `analysis/reconcile.py` compares them with the captured events.
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
    # Graphs that are not part of the result: those that the backend did not accept, and those that
    # it compiled before Dynamo started again or gave up.
    refused_graphs: int = 0
    discarded_graphs: int = 0
    # What is known about an error that is not a graph break.
    error_type: str = ""
    error_reason: Reason | None = None
    error_stack: Stack | None = None


class Skip(Struct, frozen=True, tag="skip", tag_field="event", omit_defaults=True):
    """Dynamo did not try to trace a function that `torch.compile` was given.

    If `Module.compile` was called on a module whose code Dynamo skips, `module` is its class,
    `code` its `forward` and `caller` the line with that call, if it was seen.
    """

    code: Code
    reason: str = ""
    module: str = ""
    caller: Frame | None = None


class Graph(Struct, frozen=True, tag="graph", tag_field="event", omit_defaults=True):
    """One FX graph that a backend compiled.

    `ops` is what the backend got. Some backends change the graph itself, which torch counts
    afterwards; `changed_ops` is the difference.
    """

    compile: str
    root: Code
    ops: int
    backend: str = ""
    changed_ops: int = 0


class Recompile(Struct, frozen=True, tag="recompile", tag_field="event", omit_defaults=True):
    """The compiled code of a frame did not fit. `limit` is the setting that forbids a recompile."""

    compile: str
    code: Code
    failures: tuple[GuardFailure, ...] = ()
    limit: str | None = None
    limit_value: int | None = None
    # The user's call stack, down to the call of the frame; None in older sessions.
    stack: Stack | None = None
    # The argument `dynamic` of torch.compile.
    dynamic: bool | None = None
    # How many objects this method was compiled for, and how many calls of torch.compile were given
    # its code; 0 if that is not known.
    instances: int = 0
    wrappers: int = 0
    # What was compiled, if `code` is only torch's wrapper of it: modules of torch have one.
    wrapped: Code | None = None


class Call(Struct, frozen=True, tag="call", tag_field="event", omit_defaults=True):
    """One call of a compiled function from outside of compiled code; captured only on request.

    `number` counts the calls of one `torch.compile`, from 1. An event may stand for several calls
    in a row that compiled nothing and ran the same graphs, called from the same line; then
    `number` is the first of them and `seconds` is their sum.
    """

    target: int
    number: int
    code: Code
    seconds: float
    # The compile ids of what was compiled during the call, and of the graphs that ran, in order.
    compiles: tuple[str, ...] = ()
    ran: tuple[str, ...] = ()
    caller: Frame | None = None
    # The name of the exception that left the call.
    error: str = ""
    count: int = 1


class Guard(Struct, frozen=True, omit_defaults=True):
    """One guard of compiled code, and its share of the time that checking all of them takes."""

    # torch's name of the guard, such as `TENSOR_MATCH`.
    kind: str
    # `torch` is state that belongs to no value.
    place: ChangePlace
    # Dynamo's expression for the guarded value, and the same for people: `self.layers[0].weight`.
    source: str
    name: str
    seconds: float = 0.0
    # The guard in torch's words; its first condition if it has several.
    text: str = ""


class Guards(Struct, frozen=True, tag="guards", tag_field="event", omit_defaults=True):
    """The guards of one compile, captured only on request.

    `seconds` is the time of one check when the guarded objects are in the processor's caches, and
    `cold_seconds` when they are not; None if the check could not be timed.
    """

    compile: str
    code: Code
    seconds: float | None = None
    cold_seconds: float | None = None
    guards: tuple[Guard, ...] = ()


# Why a size is dynamic: it changed (`automatic`), an earlier run or compile of the same code saw it
# change (`profile`), the program marks it, or `torch.compile(dynamic=True)`.
SizeReason = Literal[
    "automatic",
    "profile",
    "mark_dynamic",
    "maybe_mark_dynamic",
    "mark_unbacked",
    "dynamic_sources",
    "unbacked_sources",
    "dynamic",
]


class StaticSize(Struct, frozen=True):
    """A size that is compiled as a constant; `dim` is None for a number of Python."""

    name: str
    dim: int | None
    is_parameter: bool


class DynamicSize(Struct, frozen=True, omit_defaults=True):
    """A size that Dynamo was to compile as dynamic. `dim` is None for a number of Python."""

    source: str
    name: str
    dim: int | None
    why: SizeReason
    # The value of this compile, and that of the compile before it.
    value: int | float | None = None
    before: int | float | None = None
    # The constant that the size became; None if it remained dynamic.
    specialized_to: int | float | None = None
    # The traced frames at the line that made it a constant, and whether a backend did.
    stack: tuple[Frame, ...] = ()
    in_backend: bool = False
    # Static sizes of the same compile that are equal to the constant.
    equal_to: tuple[StaticSize, ...] = ()


class Sizes(Struct, frozen=True, tag="sizes", tag_field="event", omit_defaults=True):
    """The dynamic sizes of one compile, also if it failed."""

    compile: str
    code: Code
    sizes: tuple[DynamicSize, ...] = ()


class Write(Struct, frozen=True, tag="write", tag_field="event", omit_defaults=True):
    """The line that last bound or wrote a value before a call; captured in a run of its own.

    `source` is Dynamo's expression for the value. `target` and `number` are those of the `Call`.
    """

    target: int
    number: int
    source: str
    frame: Frame
    # The user's line that made the call, to recognize a run that went another way.
    caller: Frame | None = None


class CodeLine(Struct, frozen=True, omit_defaults=True):
    """A function that was running, at its current line; `compile` if a graph of it ran."""

    code: Code
    line: int
    compile: str = ""


class Piece(Struct, frozen=True, omit_defaults=True):
    """What a gap does in the compiled code of one compile, outside of its graph.

    In a backward pass it is what belongs to operators that ran there in the call before. `compile`
    is empty for what happens outside of all compiled code.
    """

    compile: str
    seconds: float
    operators: int = 0
    operator_seconds: float = 0.0
    host_copies: int = 0
    synchronizations: int = 0


class Profile(Struct, frozen=True, omit_defaults=True):
    """What torch's profiler saw in a gap of a call that was not timed."""

    # Checking guards, finding compiled code and entering it.
    lookup_seconds: float
    # The rest of the gap.
    pieces: tuple[Piece, ...]
    # The time on the device; None without one.
    device_seconds: float | None = None


class Gap(Struct, frozen=True, omit_defaults=True):
    """What runs before the first graph of a call, between two of its graphs, or after the last.

    `frames` are the functions that ran throughout, the outermost first, and `nested` those that the
    gap entered on the way to the next graph; only those that broke, or that Dynamo did not compile.
    """

    frames: tuple[CodeLine, ...] = ()
    nested: tuple[CodeLine, ...] = ()
    # None if no call was profiled.
    profile: Profile | None = None


class Cost(Struct, frozen=True, tag="cost", tag_field="event", omit_defaults=True):
    """The timed calls of a compiled function that ran the same graphs; captured only on request.

    A later event for the same graphs replaces an earlier one.
    """

    target: int
    code: Code
    # Whether these are backward passes after the calls of the function.
    backward: bool = False
    # All calls that ran these graphs, and how many of them are not steady because they compiled.
    calls: int = 0
    compiling: int = 0
    # How many of them raised an error; only if there is no call without.
    errors: int = 0
    # The compile ids of the graphs in order; empty for a backward graph. One gap more than graphs.
    graphs: tuple[str, ...] = ()
    gaps: tuple[Gap, ...] = ()
    # One row per timed call: the nanoseconds of the first gap, the first graph, the second gap, …
    samples: tuple[tuple[int, ...], ...] = ()
    # The time of the graphs on the device; None without one.
    device_seconds: float | None = None


class Backward(Struct, frozen=True, tag="backward", tag_field="event", omit_defaults=True):
    """A backward graph that a backend compiled late, when it was first needed."""

    compile: str
    seconds: float


class Settings(Struct, frozen=True, tag="settings", tag_field="event"):
    """The compile settings from this event on."""

    values: dict[str, bool | int | float | str | None]


class Stance(Struct, frozen=True, tag="stance", tag_field="event", omit_defaults=True):
    """`torch.compiler.set_stance` was called, at `caller` if that was seen."""

    stance: str
    force_backend: str = ""
    skip_guard_eval_unsafe: bool = False
    caller: Frame | None = None


class Problem(Struct, frozen=True, tag="problem", tag_field="event", omit_defaults=True):
    """Something could not be captured, and the report says so.

    After a fatal problem, nothing was captured in that process. `command` is that of a child
    process that could not be captured.
    """

    message: str
    fatal: bool = False
    command: tuple[str, ...] = ()


class End(Struct, frozen=True, tag="end", tag_field="event"):
    """The process ended by itself; a session without this event was killed."""

    seconds: float


Event = (
    Break
    | Compile
    | Skip
    | Graph
    | Recompile
    | Call
    | Guards
    | Sizes
    | Write
    | Cost
    | Backward
    | Settings
    | Stance
    | Problem
    | End
)

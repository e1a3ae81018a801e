"""What a report says. `docs/report-format.md` describes the same things as JSON."""

from __future__ import annotations

from msgspec import Struct

from fullgraph.model.events import CompileOutcome, Frame, GuardFailure, Problem, SourceLine

# The history of the report format.
#   1  the first
REPORT_FORMAT = 1

YOURS = "yours"
TORCH = "torch"


class Summary(Struct, frozen=True):
    causes: int
    sites: int
    occurrences: int
    eager_frames: int
    compiles: int
    recompiles: int
    graphs: int
    ops: int
    compile_seconds: float


class Environment(Struct, frozen=True):
    fullgraph: str
    torch: str
    python: str
    platform: str
    command: tuple[str, ...]
    directory: str
    processes: int
    killed: int
    settings: dict[str, bool | int | float | str | None]


class Cascade(Struct, frozen=True):
    """A break that exists only because of the cause it is listed under."""

    id: str | None
    type: str
    category: str
    file: str
    line: int
    column: int | None
    function: str
    occurrences: int
    because: str


class Site(Struct, frozen=True):
    """All occurrences of one type of break at one place in user code."""

    key: str
    id: str | None
    type: str
    category: str
    owner: str
    file: str
    line: int
    column: int | None
    function: str
    occurrences: int
    # Of those occurrences, how many went on tracing after the break (`resumed`), left the rest
    # of the function to eager (`cut`), left the whole frame to eager, or reached the program.
    resumed: int
    cut: int
    skipped: int
    raised: int
    # The functions that were being compiled when it happened.
    frames: tuple[str, ...]
    explanation: str
    hints: tuple[str, ...]
    context: str
    # The user's own line that leads here, when the break is in somebody else's code.
    via: Frame | None
    # The key of the site that this one is a cascade of.
    cascade_of: str | None
    because: str
    excerpt: tuple[SourceLine, ...]
    end_line: int | None
    end_column: int | None
    stack: tuple[Frame, ...]


class Cause(Site, frozen=True):
    """A site that is nobody's cascade, with everything that hangs on it."""

    rank: int
    cascades: tuple[Cascade, ...]
    # The functions that run in eager because of it.
    eager_frames: tuple[str, ...]
    # A break that the program itself asks for, as `torch.compiler.disable` does.
    asked_for: bool
    advice: str


class EagerFrame(Struct, frozen=True):
    """A frame that Dynamo gave up on whole."""

    function: str
    qualified: str
    file: str
    line: int
    resumed_at: int | None
    owner: str
    occurrences: int
    # The key of the site that caused it; empty where an error did (`reason` says which).
    site: str | None
    reason: str


class RecompileFinding(Struct, frozen=True):
    """A frame that had compiled code and did not fit it."""

    compile: str
    function: str
    qualified: str
    file: str
    line: int
    owner: str
    failures: tuple[GuardFailure, ...]
    # The setting that refused to compile once more, and its value.
    limit: str | None
    limit_value: int | None


class GraphFinding(Struct, frozen=True):
    compile: str
    function: str
    file: str
    line: int
    ops: int
    backend: str


class Failure(Struct, frozen=True):
    """A compile that ended in an error other than a graph break."""

    compile: str
    function: str
    file: str
    line: int
    outcome: CompileOutcome
    error: str


class Disagreement(Struct, frozen=True):
    """Two sources that count the same thing and do not agree."""

    what: str
    ours: int
    source: str
    theirs: int
    why: str


class Report(Struct, frozen=True):
    format: int
    summary: Summary
    environment: Environment
    causes: tuple[Cause, ...]
    sites: tuple[Site, ...]
    eager_frames: tuple[EagerFrame, ...]
    recompiles: tuple[RecompileFinding, ...]
    graphs: tuple[GraphFinding, ...]
    disagreements: tuple[Disagreement, ...]
    errors: tuple[Failure, ...]
    # What could not be captured or read back.
    problems: tuple[Problem, ...]

    def __str__(self) -> str:
        """The terminal report, so that `print(report)` does what one expects."""
        # Renderers depend on this module, so it can reach them only when asked.
        from fullgraph.render import render

        return render(self, "text")

"""The report of a run as frozen structs. `docs/report-format.md` describes the same as JSON.

`load_report` reads a JSON report of this format or of an older one.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct, json

from fullgraph.errors import ReportError
from fullgraph.files import unreadable
from fullgraph.model.cost import CostReport
from fullgraph.model.events import (
    ChangeKind,
    ChangePlace,
    Code,
    CompileOutcome,
    Frame,
    GuardFailure,
    Problem,
    SizeReason,
    SourceLine,
)

# The history of the report format:
#   1  the first
#   2  eager_frames is skipped_frames, asked_for is user_requested; the categories asked-for,
#      not-entered and effects are user-requested, untraced-calls and side-effects
REPORT_FORMAT = 2

_RENAMED_IN_2 = {"eager_frames": "skipped_frames", "asked_for": "user_requested"}
_CATEGORIES_RENAMED_IN_2 = {
    "asked-for": "user-requested",
    "not-entered": "untraced-calls",
    "effects": "side-effects",
}


class Summary(Struct, frozen=True):
    """The counts of a report; docs/counting.md defines each of them."""

    causes: int
    sites: int
    occurrences: int
    skipped_frames: int
    compiles: int
    recompiles: int
    graphs: int
    ops: int
    compile_seconds: float
    refused: int = 0


class Environment(Struct, frozen=True):
    """Where the sessions of a report come from."""

    fullgraph: str
    torch: str
    python: str
    platform: str
    command: tuple[str, ...]
    directory: str
    processes: int
    # How many of these processes ended without notice.
    killed: int
    settings: dict[str, bool | int | float | str | None]
    # The folders of torch and of libraries; paths are shown relative to them.
    package_folders: tuple[str, ...] = ()


class CascadingBreak(Struct, frozen=True):
    """A break that disappears with the root cause that lists it."""

    id: str | None
    type: str
    category: str
    file: str
    line: int
    column: int | None
    function: str
    occurrences: int
    because: str
    # See `BreakSite`.
    shown: Frame | None = None


class BreakSite(Struct, frozen=True):
    """All occurrences of one type of break at one location."""

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
    # How many of these occurrences resumed tracing after the break (`resumed`), left the rest of
    # the function in eager mode (`cut`), skipped the frame, or raised an error in the program.
    resumed: int
    cut: int
    skipped: int
    raised: int
    # The functions that Dynamo was compiling.
    frames: tuple[str, ...]
    explanation: str
    hints: tuple[str, ...]
    context: str
    # The user's own line that leads to a break in other code; None for the user's own code.
    via: Frame | None
    # The key of the root cause of a cascading break; None for a root cause.
    cascade_of: str | None
    because: str
    excerpt: tuple[SourceLine, ...]
    end_line: int | None
    end_column: int | None
    stack: tuple[Frame, ...]
    # The nearest line of the user's or a library's code, for a break inside of torch, of Python's
    # standard library or of generated code; None if the location itself can be opened and edited.
    shown: Frame | None = None
    # Other such lines that lead to the same location.
    also_from: tuple[Frame, ...] = ()


class RootCause(BreakSite, frozen=True, kw_only=True):
    """A break site that no other break causes, with the breaks and frames that depend on it."""

    rank: int
    cascades: tuple[CascadingBreak, ...]
    # The functions that run entirely in eager mode because of this break.
    skipped_frames: tuple[str, ...]
    # Whether the program itself requests the break, as with `torch.compiler.disable`.
    user_requested: bool
    advice: str


class SkippedFrame(Struct, frozen=True):
    """A function that Dynamo could not compile; it runs entirely in eager mode."""

    function: str
    qualified: str
    file: str
    line: int
    resumed_at: int | None
    owner: str
    occurrences: int
    # The key of the root cause; None if an error is the reason.
    site: str | None
    reason: str
    # Your own line that compiles a module which Dynamo skips; otherwise None.
    via: Frame | None = None


class StanceFinding(Struct, frozen=True):
    """A call of `torch.compiler.set_stance`, which changes what `torch.compile` does."""

    stance: str
    # The call as Python writes it, and what it does.
    call: str
    effect: str
    # The line of the call; None if the stance was set before the capture started.
    caller: Frame | None


class RecompileFinding(Struct, frozen=True):
    """A frame whose compiled code did not fit new inputs."""

    compile: str
    function: str
    qualified: str
    file: str
    line: int
    owner: str
    failures: tuple[GuardFailure, ...]
    # The setting that forbids another compile, and its value; None if the frame was recompiled.
    limit: str | None
    limit_value: int | None


class CallCounts(Struct, frozen=True):
    """How many calls of a compiled function ran, and to how many a limit did what."""

    total: int
    eager: int
    # The number of the first call in eager mode, from 1; None if there is none.
    first_eager: int | None
    # The same for calls that the limit raised an error in, as under fullgraph=True.
    raised: int = 0
    first_raised: int | None = None


class RecompileGroup(Struct, frozen=True):
    """All recompiles of one function for one reason: what changes, where, and how often."""

    kind: ChangeKind
    place: ChangePlace
    source: str
    name: str
    # For a size or a stride.
    dim: int | None
    # The values in the order in which they came, the first compile's and the newest included.
    values: tuple[str, ...]
    # The compiled function, and the line where it resumed if the value is below a graph break.
    function: str
    qualified: str
    file: str
    line: int
    owner: str
    resumed_at: int | None
    # The ids of the recompiles, and how many more a limit refused.
    compiles: tuple[str, ...]
    recompiles: int
    refused: int
    compile_seconds: float
    limit: str | None
    limit_value: int | None
    # The user's lines: the call of the compiled function, the statement that last bound the
    # argument's name in the caller, the one that last wrote an attribute, global, default or cell.
    called_at: Frame | None
    bound_at: Frame | None
    written_at: Frame | None
    # The line that torch names as the reason for the guard.
    specialized_at: Frame | None
    # None if calls were not captured.
    calls: CallCounts | None
    # Whether the recompiles are right and cannot become many, so that there is nothing to do.
    bounded: bool
    # Further facts, such as "dynamic=False" or "12 layers share this code".
    notes: tuple[str, ...] = ()
    # Whether the limit raises an error, as under fullgraph=True, instead of running in eager mode.
    limit_raises: bool = False
    # The other lines that call the function and led to recompiles of the group.
    also_called_at: tuple[Frame, ...] = ()
    # What the user compiled, if the function is only torch's wrapper: modules of torch have one.
    wrapped: tuple[Code, ...] = ()


class DynamicSizeFinding(Struct, frozen=True):
    """A size that is dynamic, or that was specialized although it was to be dynamic."""

    # The compiled function.
    function: str
    qualified: str
    file: str
    line: int
    owner: str
    # Dynamo's expression for the tensor or the number, and the same for people.
    source: str
    name: str
    # None for a number of Python.
    dim: int | None
    why: SizeReason
    # The first compile in which it is dynamic, its value there and that of the compile before.
    since: str
    value: int | float | None
    before: int | float | None
    # The constants that the size became, in order; empty if it remained dynamic.
    specialized_to: tuple[int | float, ...]
    # Your line, or that of a library, that made it a constant; None if there is none.
    specialized_at: Frame | None
    # Why it became a constant and what avoids that; empty if the size remained dynamic.
    because: str
    advice: str


class GraphFinding(Struct, frozen=True):
    """One FX graph that a backend compiled."""

    compile: str
    function: str
    file: str
    line: int
    ops: int
    backend: str


class Failure(Struct, frozen=True):
    """A compile that ended in an error other than a graph break.

    `function` is the one that was compiled. The location is the line that failed, or the start of
    the function if torch does not name a line.
    """

    compile: str
    function: str
    # The line that failed; the start of the function if that is not known.
    file: str
    line: int
    outcome: CompileOutcome
    error: str
    # The registry id of the error; None if it has none.
    id: str | None = None
    # The name of the exception.
    type: str = ""
    explanation: str = ""
    hints: tuple[str, ...] = ()
    owner: str = ""
    # As for a `BreakSite`.
    via: Frame | None = None
    stack: tuple[Frame, ...] = ()
    excerpt: tuple[SourceLine, ...] = ()
    column: int | None = None
    end_line: int | None = None
    end_column: int | None = None
    shown: Frame | None = None


class Disagreement(Struct, frozen=True):
    """A count that differs from torch's own."""

    what: str
    ours: int
    source: str
    theirs: int
    why: str
    # How much of the difference no captured fact explains.
    unexplained: int = 0


class Report(Struct, frozen=True):
    """The graph breaks of one run."""

    format: int
    summary: Summary
    environment: Environment
    causes: tuple[RootCause, ...]
    sites: tuple[BreakSite, ...]
    skipped_frames: tuple[SkippedFrame, ...]
    recompiles: tuple[RecompileFinding, ...]
    graphs: tuple[GraphFinding, ...]
    disagreements: tuple[Disagreement, ...]
    errors: tuple[Failure, ...]
    # What could not be captured or read back.
    problems: tuple[Problem, ...]
    # What `torch.compiler.set_stance` was called with; reports of older versions do not have it.
    stances: tuple[StanceFinding, ...] = ()
    # The recompiles by what changes; reports of older versions do not have it.
    recompile_groups: tuple[RecompileGroup, ...] = ()
    # The sizes that are dynamic; reports of older versions do not have it.
    dynamic_sizes: tuple[DynamicSizeFinding, ...] = ()
    # Where the time of calls goes; None without `--cost`.
    cost: CostReport | None = None

    def __str__(self) -> str:
        """Return the terminal report, so that `print(report)` shows it."""
        # The renderers import this module.
        from fullgraph.render import render

        return render("report", self, "text")


def load_report(path: str | os.PathLike[str]) -> Report:
    """Read a JSON report of this format or of an older one.

    A report of a newer format, a damaged file and any other file raise a `ReportError`.
    """
    file = Path(path)
    try:
        data = file.read_bytes()
    except OSError as error:
        raise ReportError(unreadable(file, error)) from None
    facts = _decode(data)
    if facts is None:
        raise ReportError(
            f"{file} is not a fullgraph report; write one with fullgraph report --format json"
        )
    version = facts["format"]
    if not isinstance(version, int) or version < 1:
        raise ReportError(f"{file} has no valid report format; write the report again")
    if version > REPORT_FORMAT:
        raise ReportError(
            f"{file} has report format {version}, and this fullgraph reads up to {REPORT_FORMAT}; "
            "upgrade with pip install -U fullgraph"
        )
    try:
        return msgspec.convert(_upgraded(facts, version), Report)
    except msgspec.ValidationError as error:
        raise ReportError(f"{file} is damaged ({error}); write the report again") from None


def is_report(path: str | os.PathLike[str]) -> bool:
    """Return whether a file is a JSON report of any format, readable or not."""
    try:
        with open(path, "rb") as file:
            first = file.readline()
            # The first line of a session is a whole JSON object that names its event.
            if b'"event"' in first:
                return False
            return _decode(first + file.read()) is not None
    except OSError:
        return False


def _decode(data: bytes) -> dict[str, Any] | None:
    """Return the fields of a report; None for any other content."""
    try:
        facts = json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    wanted = {"format", "summary", "causes", "sites"}
    return facts if isinstance(facts, dict) and wanted <= facts.keys() else None


def _upgraded(facts: dict[str, Any], version: int) -> dict[str, Any]:
    """Return the fields of an older report under the names of this format."""
    if version == 1:
        facts = _rename(facts)
    return {**facts, "summary": _counted_apart(facts), "format": REPORT_FORMAT}


def _counted_apart(facts: dict[str, Any]) -> Any:
    """Return the summary with refused compiles apart from recompiles, as older reports do not."""
    summary, recompiles = facts["summary"], facts.get("recompiles")
    if not isinstance(summary, dict) or not isinstance(recompiles, list) or "refused" in summary:
        return summary
    refused = sum(isinstance(each, dict) and bool(each.get("limit")) for each in recompiles)
    counted = summary.get("recompiles")
    if not isinstance(counted, int):
        return summary
    return {**summary, "recompiles": counted - refused, "refused": refused}


def _rename(value: Any, field: str = "") -> Any:
    if isinstance(value, dict):
        names = {key: _RENAMED_IN_2.get(key, key) for key in value}
        return {names[key]: _rename(inner, key) for key, inner in value.items()}
    if isinstance(value, list):
        return [_rename(inner) for inner in value]
    if field == "category":
        return _CATEGORIES_RENAMED_IN_2.get(value, value)
    return value

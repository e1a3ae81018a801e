"""The structs that the stages of `fullgraph fix` pass to each other. Imports no torch, does no I/O.

A fixer yields a `Candidate` or a `Refusal`. Accepted candidates are combined into a `FixPlan`. A
`TrialRequest` runs a plan on the recorded calls, and a `TrialResult` says what happened.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import msgspec
from msgspec import Struct

from fullgraph.errors import FullgraphError
from fullgraph.fix.confinement import Confinement
from fullgraph.fix.source.edits import FileEdits, combine_edits
from fullgraph.model.events import Frame
from fullgraph.model.fix_kinds import Kind, Safety
from fullgraph.model.report import Report, RootCause
from fullgraph.model.session import Session

# Values of `torch._dynamo.config`; a list holds functions as `module:qualified.name`.
SettingValue = bool | int | float | str | list[str]
Settings = dict[str, SettingValue]
Mode = Literal["eager", "compiled"]
# More compiles for different values are too many: a value guard then never stops to recompile, or
# only at torch's limit, after which calls run in eager mode.
MOST_VALUE_COMPILES = 4
# Names the file of the plan that a program is run with.
PLAN_VARIABLE = "FULLGRAPH_PLAN"


class FixError(FullgraphError):
    """A program that cannot be fixed, or a file that cannot be written."""


class Candidate(Struct, frozen=True):
    """A proposed fix for one break, not yet tried. It has edits, settings or value guards."""

    file: FileEdits | None = None
    settings: Settings = {}
    guards: bool = False
    # From the fixer's module, unless the fixer proposes something more particular.
    title: str = ""
    safety: Safety | None = None
    # What must hold for the fix to be right, in sentences; probes find further ones.
    assumes: tuple[str, ...] = ()
    # From the fixer's module.
    fixer: str = ""
    kind: Kind = "rewrite"

    @property
    def path(self) -> str | None:
        """The file that the candidate changes; None if it changes none."""
        return self.file.path if self.file is not None else None


class Refusal(Struct, frozen=True):
    """A fixer recognizes the code at a break and declines to change it."""

    reason: str
    line: int
    fixer: str = ""


class RejectedCandidate(Struct, frozen=True):
    """A candidate that was tried and not accepted."""

    fixer: str
    title: str
    reason: str


class FixPlan(Struct, frozen=True):
    """All changes that are in effect at one time, in a trial or at the end of a search."""

    files: dict[str, FileEdits] = {}
    settings: Settings = {}
    guards: bool = False
    # The plan is in effect only for calls with these signatures; empty: for all calls.
    signatures: tuple[str, ...] = ()


NO_PLAN = FixPlan()


def combined_plan(candidates: Iterable[Candidate]) -> FixPlan:
    """Return the plan that has all of some candidates; EditConflictError if they overlap."""
    by_path: dict[str, list[FileEdits]] = {}
    settings: Settings = {}
    guards = False
    for candidate in candidates:
        if candidate.file is not None:
            by_path.setdefault(candidate.file.path, []).append(candidate.file)
        settings = combined_settings(settings, candidate.settings)
        guards = guards or candidate.guards
    files = {path: _combined_file(path, changes) for path, changes in by_path.items()}
    return FixPlan(files, settings, guards)


def _combined_file(path: str, changes: list[FileEdits]) -> FileEdits:
    additions = dict.fromkeys(each for change in changes for each in change.module_additions)
    return FileEdits(path, combine_edits(changes), tuple(additions))


def combined_settings(settings: Settings, added: Settings) -> Settings:
    """Return both; where both list functions, the list has the functions of both."""
    joined = dict(settings)
    for name, value in added.items():
        mine = joined.get(name)
        if isinstance(mine, list) and isinstance(value, list):
            value = sorted({*mine, *value})
        joined[name] = value
    return joined


class TrialRequest(Struct, frozen=True):
    """What a trial is to do with the recorded calls."""

    # reference: run the original program in eager mode and keep the outcomes.
    # trial: run a plan and compare with the reference.
    # timing: measure a steady call under a plan.
    # variants: time calls under several plans in turn.
    # probe: run calls that differ in one property, and compare with the original program; find out
    # which of `lines` neither these nor the recorded calls run.
    # exercise: find out which `lines` of the original and which `new_lines` of the plan do not run.
    # outcomes, probe_outcomes: only keep what the program does, for a comparison with another one.
    task: Literal[
        "reference", "trial", "timing", "variants", "probe", "exercise", "outcomes",
        "probe_outcomes",
    ]  # fmt: skip
    plan: FixPlan = NO_PLAN
    # For `variants`; each is a part of `plan`.
    variants: tuple[FixPlan, ...] = ()
    # Empty: the backend that the program itself names.
    backend: str = "eager"
    # A further backend that runs the same traces, after the first has made all calls.
    also: str = ""
    # Whether compiled code is called with varied inputs as well; eager mode always is.
    varied: bool = True
    # No further varied inputs are run when so many break sites were met with them; 0: all are run.
    enough_sites: int = 0
    # The least safe level that the plan's fixes claim; it decides which output may differ.
    safety: Safety = "exact"
    lines: dict[str, tuple[int, ...]] = {}
    # For `exercise`, of the text that the plan makes.
    new_lines: dict[str, tuple[int, ...]] = {}
    # Code of the plan runs only in processes that are confined like this; None for our own fixes.
    confinement: Confinement | None = None
    # The outcomes of the plan, or of `probe` in addition to that of the original program, were made
    # by another process: all files of a trial, or those of the changed program.
    given: Literal["", "all", "changed"] = ""
    # The program itself runs from the changed text, and the plan leads back to the original.
    is_whole: bool = False
    # How much of the output the eager run of the plan may lack; our own fixes may lack none.
    eager_safety: Safety = "exact"
    # For `probe`: the probes to run (empty: all), how many at most per function, and how many of
    # them with compiled code.
    probes: tuple[str, ...] = ()
    # For `probe`: all fixes, whether they are a part of the plan or not. The tests that they
    # rewrite have to run on both sides; what they see of a probe decides if it runs compiled.
    all_fixes: FixPlan = NO_PLAN
    most_probes: int = 0
    most_compiled: int = 0
    # For `probe`: whether those of metadata run compiled, each with a compile of its own, and how
    # often the others may recompile.
    compiles_metadata: bool = True
    most_recompiles: int = 1000
    # For `variants`: no further round starts after so many seconds of steady calls.
    steady_seconds: float = 1e9
    # For `variants`: how long it may take. Other trials end by themselves, or hang.
    seconds: float = 120.0
    # Whether a trial runs all recorded calls, and not only those that meet different breaks.
    all_calls: bool = False
    # The parts to run, each a call and whether its inputs vary; empty: as the program needs.
    parts: tuple[tuple[int, bool], ...] = ()
    # The recorded calls to run, by their numbers; empty: all of them. Given by the runner.
    calls: tuple[int, ...] = ()
    # Given by the runner.
    number: int = 0


class Difference(Struct, frozen=True):
    """Where the outcomes of two runs differ."""

    sample: str
    what: str
    mode: Mode

    def __str__(self) -> str:
        return f"{self.mode}, {self.sample}: {self.what}"


class FailedProbe(Struct, frozen=True):
    """A call for which the fixed program differs, and the assumption that excludes such calls."""

    name: str
    assumption: str
    what: str
    mode: Mode
    # Whether the assumption is about metadata of the arguments, which a signature shows.
    is_metadata: bool = False


class UnreachedSide(Struct, frozen=True):
    """A side of a rewritten test that no call runs, and for which no input was found."""

    file: str
    line: int
    # The test as it is written.
    test: str
    is_true: bool
    # Whether the test is an index: the side is then that one of its elements is true, or false.
    is_mask: bool = False

    def __str__(self) -> str:
        value = "true" if self.is_true else "false"
        if self.is_mask:
            return f"an element of `{self.test}` is {value} (line {self.line})"
        return f"`{self.test}` is {value} (line {self.line})"


class ProbesRun(Struct, frozen=True):
    """How many probes ran in eager mode, and how many compiled."""

    eager: int = 0
    compiled: int = 0
    # Of those that ran compiled, how many did so with each backend.
    backends: dict[str, int] = {}


class GuardCost(Struct, frozen=True):
    """A value guard: what it checks, and its cost per call."""

    file: str
    line: int
    input: str
    kind: str
    value: str
    checked: int
    microseconds: float
    # How often the guard failed, so that the function recompiled.
    failed: int


class Samples(Struct, frozen=True):
    """How many calls a trial ran."""

    recorded: int
    varied: int
    # Varied inputs for which the original program raises.
    raising: int


class VariantTimes(Struct, frozen=True):
    """Seconds of a call under one plan: the first one, which compiles, and steady ones.

    The plans of a trial take turns, so that the same index is the same moment; None for a call
    that compiled again.
    """

    first: float
    steady: tuple[float | None, ...]


class Verdict(Struct, frozen=True):
    """How the outcomes of one part of a trial differ from those of the original program."""

    differences: tuple[Difference, ...] = ()
    largest: float = 0.0
    gradients: int = 0
    zero_gradients: int = 0
    # Calls for which the original program raises.
    raising: int = 0
    # Calls of which a part differs each time, so that it is not compared.
    varying: tuple[str, ...] = ()
    # Calls with another property for which the plan is wrong.
    failed_probes: tuple[FailedProbe, ...] = ()
    # Attributes that the modules of a whole changed program have besides those of the original.
    new_attributes: tuple[str, ...] = ()
    # Why the outcomes could not be compared; empty if they were.
    error: str = ""
    # The same for the further backend of the request.
    also: Verdict | None = None


class TrialResult(Struct, frozen=True):
    """What a trial found. The calls of each of its processes are a part; the parts are merged."""

    number: int
    report: Report | None
    # What one part captured; the report of all parts is made from these.
    session: Session | None = None
    differences: tuple[Difference, ...] = ()
    # The largest difference between numbers that were allowed to differ.
    largest: float = 0.0
    gradients: int = 0
    # Gradients of one call that are zero where the original program has None.
    zero_gradients: int = 0
    samples: Samples = Samples(0, 0, 0)
    # Compiles during the second and third call with the same inputs.
    recompiled: int = 0
    # Compiles for the values of integer inputs in the program's other calls; counted up to
    # `MOST_VALUE_COMPILES`, and only with value guards.
    value_compiles: int = 0
    # Break sites met while compiled code was called with varied inputs.
    varied_sites: int = 0
    # Seconds of a steady call.
    seconds: float | None = None
    # In the order of the request.
    variants: tuple[VariantTimes, ...] = ()
    guards: tuple[GuardCost, ...] = ()
    # Lines that no sample ran, by file.
    unreached: dict[str, tuple[int, ...]] = {}
    unreached_sides: tuple[UnreachedSide, ...] = ()
    # Lines of the text that the plan makes.
    unreached_new: dict[str, tuple[int, ...]] = {}
    # Calls with another property for which the plan is wrong, and how many such calls ran.
    failed_probes: tuple[FailedProbe, ...] = ()
    probes: ProbesRun = ProbesRun()
    # Of the recorded calls.
    signatures: tuple[str, ...] = ()
    # Calls of which a part differs each time, so that it is not compared.
    varying: tuple[str, ...] = ()
    # Settings of the plan that had no effect.
    unused: tuple[str, ...] = ()
    new_attributes: tuple[str, ...] = ()
    # What the trial has cost, however busy the machine was.
    cpu_seconds: float = 0.0
    # The error that ended the trial; empty without one.
    error: str = ""
    # What the further backend of the request did; None without one.
    also: TrialResult | None = None


class ProgramRecorded(Struct, frozen=True):
    """The program has run in eager mode; these calls of compiled functions were recorded."""

    calls: tuple[str, ...]
    functions: tuple[str, ...]
    # Which of all calls of compiled functions they are, counted from 1.
    positions: tuple[int, ...] = ()
    error: str = ""
    # The innermost line of the user's code in the error's traceback.
    details: str = ""
    # Whether the process can be forked; if not, each request reruns the program.
    can_fork: bool = True
    # The file that ran as `__main__`; empty if it is not known.
    main_file: str = ""
    # Functions of which calls could not be kept, each with the number of kinds of such calls.
    not_kept: dict[str, int] = {}
    # CPU seconds of the program.
    cpu_seconds: float = 0.0
    # What the user's files contained when the program loaded them; see `record/loaded_sources.py`.
    sources: dict[str, str] = {}
    # When the program was started, in nanoseconds since the epoch, and how long it ran.
    started: int = 0
    seconds: float = 0.0


class EndedTrial(Struct, frozen=True):
    """All parts of a trial have ended: the number of each call, and whether its inputs varied."""

    number: int
    parts: tuple[tuple[int, bool], ...]
    # Whether it ran in the process of the program and left a trace there.
    left_trace: bool = False


def with_number(request: TrialRequest, number: int) -> TrialRequest:
    """Return a request under the number that its runner gave it."""
    return msgspec.structs.replace(request, number=number)


class AcceptedFix(Struct, frozen=True):
    """An accepted fix and the graph break that it removes."""

    candidate: Candidate
    cause: RootCause
    # See `ProgramSource.break_key`.
    break_key: str
    # The line of the break in the original file.
    line: int
    # `BreakSite.shown`, in the original file.
    shown: Frame | None = None
    # The keys of all breaks that were gone when the fix was accepted.
    removed: tuple[str, ...] = ()
    # The keys of those of them that it was proposed for, perhaps beside other fixes.
    served: tuple[str, ...] = ()
    # The lines of the original files on the way to these breaks, their own included.
    reached_by: frozenset[tuple[str, int]] = frozenset()
    # The number of the trial after which it was accepted.
    trial: int = 0


class RemainingCause(Struct, frozen=True):
    """A root cause that is still there at the end, and what was tried for it."""

    cause: RootCause
    # The line of the break in the original file.
    line: int
    rejected: tuple[RejectedCandidate, ...]
    refusals: tuple[Refusal, ...]
    # `BreakSite.shown`, in the original file.
    shown: Frame | None = None
    # Fixers with candidates for which no budget was left.
    untried: tuple[str, ...] = ()


class SearchResult(Struct, frozen=True):
    """What the search has found, and how it was verified."""

    baseline: TrialResult
    # Of all accepted fixes together: with the eager backend, then with the others.
    final: TrialResult
    other_backends: dict[str, TrialResult]
    fixes: tuple[AcceptedFix, ...]
    remaining: tuple[RemainingCause, ...]
    # Whether the budget was spent before everything was tried, and the budget in CPU seconds.
    out_of_time: bool
    budget: float = 0.0

    @property
    def plan(self) -> FixPlan:
        """All accepted fixes together."""
        return combined_plan(fix.candidate for fix in self.fixes)

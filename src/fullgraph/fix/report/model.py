"""What a fix report holds. `docs/fix-format.md` describes the same as JSON."""

from __future__ import annotations

from msgspec import Struct

from fullgraph.fix.model import GuardCost, Refusal, RejectedCandidate, Settings
from fullgraph.model.cost import Estimate
from fullgraph.model.events import Frame
from fullgraph.model.fix_kinds import Kind
from fullgraph.model.grades import Grade

# The history of the format.
#   1  the first
#   2  eager_frames is skipped_frames; proven is verified, proof is verification; left is
#      remaining, and its tried is rejected (title, reason, fixer) and refusals; place is location;
#      the kinds hoist and ease are move and mitigate; specialised is specialized
#   3  safety is grade, assumes and changes; verification has probes, compiled_probes
#      and probe_backends; a fix with a changed line that never ran is unverified
FIX_FORMAT = 3

# Smaller differences between two measurements of a call are noise: both must be exceeded.
_NOISE_RATIO = 1.1
_NOISE_SECONDS = 10e-6


class BeforeAfter(Struct, frozen=True):
    """A number of the original program, and with the fixes."""

    before: int
    after: int


class FixSummary(Struct, frozen=True):
    """The numbers of the headline."""

    causes: BeforeAfter
    sites: BeforeAfter
    graphs: BeforeAfter
    skipped_frames: BeforeAfter
    # Operations in graphs.
    ops: BeforeAfter
    # Whether the fixes passed verification, all together.
    verified: bool


class BreakLocation(Struct, frozen=True):
    """A break in the original program."""

    file: str
    line: int
    function: str
    id: str | None
    type: str
    owner: str
    # The nearest line of the user's or a library's code, for a break inside of torch or Python;
    # None if the location itself can be edited.
    shown: Frame | None = None


class Fix(Struct, frozen=True):
    """A verified fix."""

    fixer: str
    title: str
    kind: Kind
    grade: Grade
    # What must hold for the fix to be right, and what it changes, in sentences.
    assumes: tuple[str, ...]
    changes: tuple[str, ...]
    location: BreakLocation
    diff: str
    # The statements to add to the program, for a setting.
    settings: tuple[str, ...]
    # Changed lines of the original that no call and no probe runs.
    unreached: tuple[int, ...]
    # The changed file and the first changed line of the original; None without a source change.
    changed_file: str | None = None
    changed_line: int | None = None
    # How many root causes of the original program it removes; 0 for a mitigation, and for a break
    # that the original program meets only with other fixes.
    removes: int = 1
    # Whether a new value of an input recompiles.
    recompiles: bool = False
    # Sides of rewritten tests that no call runs, and for which no input was found, in sentences.
    unreached_sides: tuple[str, ...] = ()


class RemainingBreak(Struct, frozen=True):
    """A root cause that is still there, the candidates that were tried, and the refusals."""

    location: BreakLocation
    rejected: tuple[RejectedCandidate, ...]
    refusals: tuple[Refusal, ...]
    # Fixers with candidates for which no budget was left.
    untried: tuple[str, ...] = ()


class CallTimes(Struct, frozen=True):
    """Seconds of a steady call without fixes and with them, and their ratio with its interval."""

    before: float
    after: float
    ratio: float
    low: float
    high: float


class CallsRun(Struct, frozen=True):
    """How many calls ran with a backend in verification."""

    backend: str
    recorded: int
    varied: int


class Verification(Struct, frozen=True):
    """The facts behind `verified`."""

    recorded_calls: int
    varied_calls: int
    # Varied calls for which the original program raises; the fixed program does, too.
    raising_calls: int
    largest_difference: float
    gradients: int
    # Gradients that a backend makes zero where the original program has None.
    zero_gradients: int
    recompilations: int
    backends: tuple[str, ...]
    # Break sites with varied inputs: a value that fails a guard breaks as in the original program.
    varied_sites: int
    # How many times as fast a steady call is, with the program's own backend.
    speedup: float | None
    problems: tuple[str, ...]
    # Seconds of a steady call of the original program, and with the fixes.
    seconds_before: float | None = None
    seconds_after: float | None = None
    # Calls that differ from a recorded one in a single property, in eager mode and compiled; the
    # fixes name what they assume where the result differs.
    probes: int = 0
    compiled_probes: int = 0
    # How many of them ran with each backend.
    probe_backends: dict[str, int] = {}

    # The interval of the speedup, and why it cannot be told; empty if it can.
    speedup_low: float | None = None
    speedup_high: float | None = None
    speed_unknown: str = ""
    calls: tuple[CallsRun, ...] = ()
    # Compiled functions with kinds of calls that were not recorded, each with how many.
    not_recorded: dict[str, int] = {}

    @property
    def is_slower(self) -> bool:
        """Whether the fixes make a call slower, beyond the interval and the noise."""
        high = self.speedup if self.speedup_high is None else self.speedup_high
        return self._is_noticeable and high is not None and high < 1

    @property
    def is_faster(self) -> bool:
        """Whether the fixes make a call faster, beyond the interval and the noise."""
        low = self.speedup if self.speedup_low is None else self.speedup_low
        return self._is_noticeable and low is not None and low > 1

    @property
    def is_as_fast(self) -> bool:
        """Whether a call takes as long as before, as far as anybody would notice."""
        if self.speedup is None or self.is_slower or self.is_faster:
            return False
        low, high = self.speedup_low or self.speedup, self.speedup_high or self.speedup
        is_similar = low > 1 / _NOISE_RATIO and high < _NOISE_RATIO
        largest = max(abs(low - 1), abs(high - 1)) * (self.seconds_after or 0)
        return is_similar or largest < _NOISE_SECONDS

    @property
    def _difference(self) -> float:
        return abs((self.seconds_after or 0) - (self.seconds_before or 0))

    @property
    def _is_noticeable(self) -> bool:
        if self.speedup is None or self._difference < _NOISE_SECONDS:
            return False
        return not 1 / _NOISE_RATIO < self.speedup < _NOISE_RATIO


class FixPrice(Struct, frozen=True):
    """What a root cause costs a call, measured by fixing everything but it."""

    file: str
    line: int
    type: str
    # The index of its fix; None if it remains.
    fix: int | None
    # Seconds that a steady call takes longer without this fix but with all others, and that it is
    # faster with this fix alone.
    left_out: Estimate | None
    alone: Estimate | None
    # Seconds that the first call takes longer without this fix but with all others.
    first_call: float | None
    # The price from `fullgraph run --cost`; None if it could not be told.
    estimated: Estimate | None
    # Why it was not measured, or why that says nothing; empty if it does.
    reason: str


class FixCost(Struct, frozen=True):
    """What the root causes cost, the most expensive fixes first; only with `--cost`."""

    # Seconds of a steady call and of the first one, without fixes and with all of them.
    original: Estimate | None
    fixed: Estimate | None
    original_first: float | None
    fixed_first: float | None
    prices: tuple[FixPrice, ...]
    # Why nothing was measured; empty if something was.
    reason: str


class FixReport(Struct, frozen=True):
    """Everything that `fullgraph fix` found."""

    format: int
    summary: FixSummary
    fixes: tuple[Fix, ...]
    remaining: tuple[RemainingBreak, ...]
    settings: Settings
    guards: tuple[GuardCost, ...]
    verification: Verification
    # All source changes in one diff.
    diff: str
    # Whether the budget was spent before everything was tried, and the budget in CPU seconds.
    out_of_time: bool
    seconds: float
    # What each fix is worth; None without `--cost`.
    cost: FixCost | None = None
    budget: float = 0.0

"""What a fix report holds. `docs/fix-format.md` describes the same as JSON."""

from __future__ import annotations

from msgspec import Struct

from fullgraph.fix.model import GuardCost, Refusal, RejectedCandidate, Settings
from fullgraph.model.fix_kinds import Kind, Safety

# The history of the format.
#   1  the first
#   2  eager_frames is skipped_frames; proven is verified, proof is verification; left is
#      remaining, and its tried is rejected (title, reason, fixer) and refusals; place is location;
#      the kinds hoist and ease are move and mitigate; specialised is specialized
FIX_FORMAT = 2


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


class Fix(Struct, frozen=True):
    """A verified fix."""

    fixer: str
    title: str
    kind: Kind
    safety: Safety
    location: BreakLocation
    diff: str
    # The statements to add to the program, for a setting.
    settings: tuple[str, ...]
    # Changed lines of the original that no call runs, so that the fix is not tested there.
    unreached: tuple[int, ...]


class RemainingBreak(Struct, frozen=True):
    """A root cause that is still there, the candidates that were tried, and the refusals."""

    location: BreakLocation
    rejected: tuple[RejectedCandidate, ...]
    refusals: tuple[Refusal, ...]


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
    out_of_time: bool
    seconds: float

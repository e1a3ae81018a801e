"""The state of a search: the accepted fixes, and the result of the last accepted trial."""

from __future__ import annotations

from collections.abc import Sequence

from fullgraph.fix.model import AcceptedFix, Candidate, FixPlan, TrialResult, combined_plan
from fullgraph.fix.source.edits import EditConflictError
from fullgraph.fix.source.program import ProgramSource
from fullgraph.model.report import RootCause

# A candidate and the break that it is for.
Attempt = tuple[RootCause, Candidate]


class SearchState:
    """The original program's result, the accepted fixes, and the result with them."""

    def __init__(self, baseline: TrialResult) -> None:
        self.baseline = baseline
        self.reset([], baseline)

    def reset(self, fixes: Sequence[AcceptedFix], current: TrialResult) -> None:
        """Replace the accepted fixes, and the result of the trial that ran them."""
        self.fixes = list(fixes)
        self.current = current
        self.plan = combined_plan(fix.candidate for fix in self.fixes)
        self.source = ProgramSource(self.plan.files)

    @property
    def causes(self) -> tuple[RootCause, ...]:
        """The root causes that are left."""
        return self.current.report.causes if self.current.report else ()

    def plan_with(self, attempts: Sequence[Attempt]) -> FixPlan:
        """Return the plan with more candidates."""
        accepted = [fix.candidate for fix in self.fixes]
        return combined_plan([*accepted, *(candidate for _, candidate in attempts)])

    def accept(self, attempts: Sequence[Attempt], result: TrialResult) -> None:
        """Accept candidates whose trial was good."""
        source = ProgramSource(self.plan_with(attempts).files)
        left = {source.break_key(cause) for cause in result.report.causes} if result.report else ()
        # A setting that helps several breaks is accepted once, for one that is gone.
        ordered = sorted(attempts, key=lambda each: self.source.break_key(each[0]) in left)
        chosen = one_per_change(ordered)
        gone = [key for key in map(self.source.break_key, self.causes) if key not in left]
        fixes = []
        for cause, candidate in chosen:
            # Of several fixes, each has removed the breaks that it was proposed for.
            proposed_for = self._breaks_of(candidate, attempts) if len(chosen) > 1 else gone
            removed = tuple(key for key in gone if key in proposed_for)
            gone = [key for key in gone if key not in removed]
            fixes.append(self.as_fix(cause, candidate, removed))
        self.reset([*self.fixes, *fixes], result)

    def _breaks_of(self, candidate: Candidate, attempts: Sequence[Attempt]) -> set[str]:
        """Return the keys of the breaks for which the same change was proposed."""
        change = _change(candidate)
        return {self.source.break_key(cause) for cause, each in attempts if _change(each) == change}

    def as_fix(
        self, cause: RootCause, candidate: Candidate, removed: tuple[str, ...] = ()
    ) -> AcceptedFix:
        """Return a candidate for a break of the current plan as an accepted fix."""
        return AcceptedFix(
            candidate,
            cause,
            break_key=self.source.break_key(cause),
            line=self.source.original_line(cause),
            shown=self.source.original_shown(cause),
            removed=removed,
        )


def without_fix(fixes: Sequence[AcceptedFix], dropped: AcceptedFix) -> list[AcceptedFix]:
    """Return the fixes without one, and without those that change what it has written."""
    kept: list[AcceptedFix] = []
    for fix in fixes:
        if fix is dropped:
            continue
        try:
            combined_plan([*(each.candidate for each in kept), fix.candidate])
        except EditConflictError:
            continue
        kept.append(fix)
    return kept


def one_per_fixer(attempts: Sequence[Attempt]) -> list[Attempt]:
    """Return the last attempt of each fixer."""
    return list({candidate.fixer: (cause, candidate) for cause, candidate in attempts}.values())


def one_per_change(attempts: Sequence[Attempt]) -> list[Attempt]:
    """Return the first of the attempts that change the same."""
    changes = {_change(candidate): (cause, candidate) for cause, candidate in reversed(attempts)}
    return list(changes.values())[::-1]


def _change(candidate: Candidate) -> str:
    return repr((candidate.fixer, candidate.settings, candidate.path))

"""At the end of a search: takes back the fixes without which the result is as good.

A trial without a fix is run only where the answer is not known. A fix is needed if a break was
there before it and gone afterwards and no other fix was proposed for it, unless a later one can
have made it unnecessary: a setting or a guard, which are for all breaks of their kind, or a rewrite
of a line on the way to the break.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from fullgraph.fix.model import AcceptedFix, TrialResult
from fullgraph.fix.search.accept import failure_of, remaining_breaks, why_worse
from fullgraph.fix.search.attempts import AttemptLog
from fullgraph.fix.search.budget import Budget
from fullgraph.fix.search.state import SearchState, lines_touched, without_fix
from fullgraph.model.report import RootCause

_FOR_ALL_BREAKS = ("setting", "guard")


class RedundancyCheck:
    """Leaves out accepted fixes, alone and in groups."""

    def __init__(
        self,
        state: SearchState,
        log: AttemptLog,
        budget: Budget,
        run: Callable[[Sequence[AcceptedFix]], TrialResult],
        is_for: Callable[[AcceptedFix, AcceptedFix], bool],
    ) -> None:
        """`is_for`: whether a fix, a setting or a guard, is also proposed for another break."""
        self._state = state
        self._log = log
        self._budget = budget
        self._run = run
        self._is_for = is_for

    def run(self) -> None:
        """Take back what did not pay, then what is redundant."""
        self._take_back_unpaid_credit()
        self._take_back_all_if_nothing_is_better()
        self._drop_group([fix for fix in self._doubtful() if not fix.removed])
        for fix in reversed(self._state.fixes):
            # What was dropped before may have left a fix as the only one for a break.
            if fix.candidate.kind in _FOR_ALL_BREAKS and self._may_be_redundant(fix):
                self._drop_group([fix])
        self._drop_group([f for f in self._doubtful() if f.candidate.kind not in _FOR_ALL_BREAKS])

    def _doubtful(self) -> list[AcceptedFix]:
        return [fix for fix in self._state.fixes if self._may_be_redundant(fix)]

    def _take_back_unpaid_credit(self) -> None:
        """Take back fixes that only got further, in functions with as many breaks as before."""
        state = self._state
        before = Counter((each.file, each.function) for each in _causes(state.baseline))
        after = Counter((each.file, each.function) for each in _causes(state.current))
        by_function: dict[tuple[str, str], list[AcceptedFix]] = {}
        for fix in state.fixes:
            place = (fix.cause.file, fix.cause.function)
            is_unpaid = after[place] >= max(before[place], 1)
            if is_unpaid and any(fix is each for each in state.on_credit):
                by_function.setdefault(place, []).append(fix)
        for fixes in by_function.values():
            self._drop(fixes, "it only moves the break")

    def _take_back_all_if_nothing_is_better(self) -> None:
        """Take back everything that leaves as many breaks, or a program that is worse."""
        state = self._state
        mitigations = [fix for fix in state.fixes if fix.candidate.kind == "mitigate"]
        if len(mitigations) == len(state.fixes):
            return
        is_better = remaining_breaks(state.current) < remaining_breaks(state.baseline)
        worse = why_worse(state.current, state.baseline)
        if is_better and not worse:
            return
        for fix in state.fixes:
            self._log.take_back(fix, worse or "as many breaks remain")
        state.reset([], state.baseline)

    def _may_be_redundant(self, fix: AcceptedFix) -> bool:
        """Return whether some other fix can have made a fix unnecessary."""
        fixes = self._state.fixes
        if fix.candidate.kind == "mitigate" or len(fixes) == 1:
            return False
        later = fixes[next(n for n, each in enumerate(fixes) if each is fix) + 1 :]
        if any(
            lines_touched(each.candidate) & fix.reached_by
            or (
                each.candidate.kind in _FOR_ALL_BREAKS
                and each.trial != fix.trial
                and self._is_for(each, fix)
            )
            for each in later
        ):
            return True
        others = {key for each in fixes if each is not fix for key in each.served}
        return fix.candidate.kind in _FOR_ALL_BREAKS and others.issuperset(fix.served)

    def _drop_group(self, fixes: list[AcceptedFix]) -> None:
        """Leave out fixes together; if that makes a difference, leave out each half."""
        fixes = [fix for fix in fixes if any(fix is each for each in self._state.fixes)]
        if not fixes or self._budget.is_spent:
            return
        if self._drop(fixes, "as many breaks remain without it") or len(fixes) == 1:
            return
        # The last ones first: a later fix may have been made for what an earlier one has left.
        middle = len(fixes) // 2
        self._drop_group(fixes[middle:])
        self._drop_group(fixes[:middle])

    def _drop(self, fixes: Sequence[AcceptedFix], reason: str) -> bool:
        """Drop fixes if the rest is as good without them; return whether it is."""
        state = self._state
        rest = without_fix(state.fixes, *fixes)
        result = state.baseline if not rest else self._run(rest)
        is_as_good = remaining_breaks(result) <= remaining_breaks(state.current)
        if failure_of(result) or not is_as_good:
            return False
        for fix in state.fixes:
            if not any(fix is each for each in rest):
                self._log.take_back(fix, reason)
        state.reset(rest, result)
        return True


def _causes(result: TrialResult) -> tuple[RootCause, ...]:
    return result.report.causes if result.report is not None else ()

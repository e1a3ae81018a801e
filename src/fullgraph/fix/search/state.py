"""The state of a search: the accepted fixes, and the result of the last accepted trial."""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence
from functools import lru_cache

from msgspec.structs import replace

from fullgraph.fix.model import AcceptedFix, Candidate, FixPlan, TrialResult, combined_plan
from fullgraph.fix.source.edits import Edit, EditConflictError, edited_lines
from fullgraph.fix.source.program import ProgramSource
from fullgraph.fix.source.text import last_line, parse, read_source
from fullgraph.model.report import RootCause

# A candidate and the break that it is for.
Attempt = tuple[RootCause, Candidate]


class SearchState:
    """The original program's result, the accepted fixes, and the result with them."""

    def __init__(self, baseline: TrialResult) -> None:
        self.baseline = baseline
        # The keys of the breaks that the search has met.
        self.met: set[str] = set()
        # Fixes that were accepted because the search got further, though as many breaks remained.
        self.on_credit: list[AcceptedFix] = []
        self.reset([], baseline)

    def reset(self, fixes: Sequence[AcceptedFix], current: TrialResult) -> None:
        """Replace the accepted fixes, and the result of the trial that ran them."""
        self.fixes = list(fixes)
        self.current = current
        self.plan = combined_plan(fix.candidate for fix in self.fixes)
        self.source = ProgramSource(self.plan.files)
        self.met.update(map(self.source.break_key, self.causes))

    def restart(self) -> None:
        """Forget the breaks that were met: without a fix that was dropped, they come again."""
        self.met = set(map(self.source.break_key, self.causes))

    @property
    def causes(self) -> tuple[RootCause, ...]:
        """The root causes that are left."""
        return self.current.report.causes if self.current.report else ()

    def plan_with(self, attempts: Sequence[Attempt]) -> FixPlan:
        """Return the plan with more candidates."""
        accepted = [fix.candidate for fix in self.fixes]
        return combined_plan([*accepted, *(candidate for _, candidate in attempts)])

    def accept(
        self, attempts: Sequence[Attempt], result: TrialResult, *, on_credit: bool = False
    ) -> None:
        """Accept candidates whose trial was good; on credit if as many breaks remain for now."""
        source = ProgramSource(self.plan_with(attempts).files)
        left = {source.break_key(cause) for cause in result.report.causes} if result.report else ()
        # A setting that helps several breaks is accepted once, for one that is gone.
        ordered = sorted(attempts, key=lambda each: self.source.break_key(each[0]) in left)
        chosen = one_per_change(ordered)
        gone = [key for key in map(self.source.break_key, self.causes) if key not in left]
        fixes = []
        unclaimed = list(gone)
        for cause, candidate in chosen:
            mine = self._breaks_of(candidate, attempts)
            # Of several fixes, each has removed the breaks that it was proposed for, and those
            # that its lines lead to.
            claimed = mine if len(chosen) > 1 else gone
            removed = tuple(key for key in unclaimed if key in claimed)
            unclaimed = [key for key in unclaimed if key not in removed]
            served = tuple(key for key in gone if key in mine)
            fix = self.as_fix(cause, candidate, removed, served)
            fixes.append(replace(fix, trial=result.number))
        self.on_credit += fixes if on_credit else []
        self.reset([*self.fixes, *fixes], result)

    def _breaks_of(self, candidate: Candidate, attempts: Sequence[Attempt]) -> set[str]:
        """Return the keys of the breaks that the same change was proposed for or leads to."""
        change = _change(candidate)
        touched = lines_touched(candidate)
        found = [cause for cause, each in attempts if _change(each) == change]
        found += [each for each in self.causes if touched & self.source.original_lines(each)]
        return set(map(self.source.break_key, found))

    def as_fix(
        self,
        cause: RootCause,
        candidate: Candidate,
        removed: tuple[str, ...] = (),
        served: tuple[str, ...] = (),
    ) -> AcceptedFix:
        """Return a candidate for a break of the current plan as an accepted fix."""
        return AcceptedFix(
            candidate,
            cause,
            break_key=self.source.break_key(cause),
            line=self.source.original_line(cause),
            shown=self.source.original_shown(cause),
            removed=removed,
            served=served,
            reached_by=self._ways_to(cause, served),
        )

    def _ways_to(self, cause: RootCause, served: Collection[str]) -> frozenset[tuple[str, int]]:
        found = [each for each in self.causes if self.source.break_key(each) in served]
        lines = map(self.source.original_lines, [cause, *found])
        return frozenset(line for each in lines for line in each)


def without_fix(fixes: Sequence[AcceptedFix], *dropped: AcceptedFix) -> list[AcceptedFix]:
    """Return the fixes without some, and without those that change what these have written."""
    return that_fit([fix for fix in fixes if not any(fix is each for each in dropped)])


def that_fit(fixes: Sequence[AcceptedFix]) -> list[AcceptedFix]:
    """Return the fixes that do not build on one that is missing."""
    kept: list[AcceptedFix] = []
    for fix in fixes:
        try:
            combined_plan([*(each.candidate for each in kept), fix.candidate])
        except EditConflictError:
            continue
        kept.append(fix)
    return kept


def lines_touched(candidate: Candidate) -> frozenset[tuple[str, int]]:
    """Return the lines of the original file that a candidate changes or removes.

    A block counts as changed with its first line: under another `if` it may not run at all.
    """
    file = candidate.file
    if file is None:
        return frozenset()
    lines = _lines_of_blocks(read_source(file.path) or "", file.edits)
    return frozenset((file.path, line) for line in lines)


@lru_cache(maxsize=4096)
def _lines_of_blocks(text: str, edits: tuple[Edit, ...]) -> frozenset[int]:
    lines = set(edited_lines(text, edits))
    for node in ast.walk(parse(text) or ast.Module([], [])):
        body = getattr(node, "body", None)
        if isinstance(node, ast.stmt) and isinstance(body, list):
            decorators = [each.lineno for each in getattr(node, "decorator_list", [])]
            head = range(min([node.lineno, *decorators]), body[0].lineno)
            if not lines.isdisjoint(head):
                lines.update(range(node.lineno, last_line(node) + 1))
    return frozenset(lines)


def one_per_fixer(attempts: Sequence[Attempt]) -> list[Attempt]:
    """Return the last attempt of each fixer."""
    return list({candidate.fixer: (cause, candidate) for cause, candidate in attempts}.values())


def one_per_change(attempts: Sequence[Attempt]) -> list[Attempt]:
    """Return the first of the attempts that change the same."""
    changes = {_change(candidate): (cause, candidate) for cause, candidate in reversed(attempts)}
    return list(changes.values())[::-1]


def _change(candidate: Candidate) -> str:
    return repr((candidate.fixer, candidate.settings, candidate.file))

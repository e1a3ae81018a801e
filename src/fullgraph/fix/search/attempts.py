"""What was tried for each break: the candidates that were rejected, and the fixers' refusals."""

from __future__ import annotations

from collections.abc import Sequence

from fullgraph.fix.model import (
    AcceptedFix,
    Candidate,
    FixPlan,
    Refusal,
    RejectedCandidate,
    RemainingCause,
)
from fullgraph.fix.search.state import Attempt, SearchState

# All candidates of a trial have left their breaks.
STILL_THERE = "the break is still there"


class AttemptLog:
    """Remembers rejections, so that no candidate is tried twice in the same situation."""

    def __init__(self) -> None:
        self._rejected: dict[str, dict[RejectedCandidate, None]] = {}
        self._refusals: dict[str, dict[Refusal, None]] = {}
        self._failed: set[str] = set()
        # All candidates that were tried and not accepted, on top of whatever plan.
        self._tried: set[str] = set()
        self._untried: dict[str, dict[str, None]] = {}
        # Fixes that failed verification.
        self._dropped: set[str] = set()

    def refuse(self, key: str, refusal: Refusal) -> None:
        """Record that a fixer declined to change the code at a break."""
        self._refusals.setdefault(key, {})[refusal] = None

    def reject(self, state: SearchState, attempts: Sequence[Attempt], reason: str) -> None:
        """Record that a bundle of candidates was tried and not accepted."""
        for cause, candidate in attempts:
            key = state.source.break_key(cause)
            # Several settings are tried together; one of them alone may still help, unless all
            # of them together leave the break: a setting only adds to what can be captured.
            if len(attempts) == 1 or candidate.kind != "setting" or reason == STILL_THERE:
                self._failed.add(_situation(key, candidate, state.plan))
            self._tried.add(_change(key, candidate))
            self._note(key, candidate, reason)

    def drop(self, fix: AcceptedFix, reason: str) -> None:
        """Record that an accepted fix failed verification; it is never tried again."""
        self._note(fix.break_key, fix.candidate, f"with varied inputs: {reason}")
        self._dropped.add(_subject(fix.break_key, fix.candidate))

    def take_back(self, fix: AcceptedFix, reason: str) -> None:
        """Record that an accepted fix was taken back in the end."""
        self._note(fix.break_key, fix.candidate, reason)

    def _note(self, key: str, candidate: Candidate, reason: str) -> None:
        rejected = RejectedCandidate(candidate.fixer, candidate.title, reason)
        self._rejected.setdefault(key, {})[rejected] = None

    def was_dropped(self, key: str, candidate: Candidate) -> bool:
        """Return whether a candidate failed verification before."""
        return _subject(key, candidate) in self._dropped

    def has_failed(self, key: str, candidate: Candidate, plan: FixPlan) -> bool:
        """Return whether a candidate was tried in vain on top of this plan."""
        return _situation(key, candidate, plan) in self._failed

    @property
    def tried(self) -> int:
        """How many candidates have failed, each counted once per situation."""
        return len(self._failed)

    def was_tried(self, key: str, candidate: Candidate) -> bool:
        """Return whether a candidate was tried in vain on top of whatever plan."""
        return _change(key, candidate) in self._tried

    def leave_untried(self, key: str, candidate: Candidate) -> None:
        """Record that the budget was spent before a candidate was tried."""
        self._untried.setdefault(key, {})[candidate.fixer] = None

    def remaining(self, state: SearchState) -> tuple[RemainingCause, ...]:
        """Return the root causes that are left, each with what was tried for it."""
        found = []
        for cause in state.causes:
            key = state.source.break_key(cause)
            found.append(
                RemainingCause(
                    cause,
                    state.source.original_line(cause),
                    tuple(self._rejected.get(key, ())),
                    tuple(self._refusals.get(key, ())),
                    state.source.original_shown(cause),
                    tuple(self._untried.get(key, ())),
                )
            )
        return tuple(found)


def _subject(key: str, candidate: Candidate) -> str:
    """Return what a candidate is about: a rewrite one break, a setting or a guard all of them."""
    return f"{candidate.title} {key if candidate.file is not None else ''}"


def _change(key: str, candidate: Candidate) -> str:
    """Return what a candidate changes, and for which break."""
    return f"{_subject(key, candidate)} {candidate.file} {sorted(candidate.settings)}"


def _situation(key: str, candidate: Candidate, plan: FixPlan) -> str:
    """Return a candidate together with the parts of the plan that matter to it."""
    change = (
        repr((candidate.file, plan.files.get(candidate.file.path)))
        if candidate.file is not None
        else repr(sorted(candidate.settings))
    )
    return f"{_subject(key, candidate)} {plan.guards} {sorted(plan.settings)} {change}"

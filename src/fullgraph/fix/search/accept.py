"""What peeling is made of: steps that are kept, attempts that are not, and what came of it all."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

from msgspec import Struct

from fullgraph.fix.model import Candidate, Plan, Safety, Trial
from fullgraph.model.report import Cause

_SAFETIES: tuple[Safety, ...] = ("exact", "specialised", "reordered", "dropped")


class Step(Struct, frozen=True):
    """Something that is kept, and the break that it was for."""

    candidate: Candidate
    cause: Cause
    # The break's identity.
    about: str = ""
    # How the file was before, and how it is with it.
    before: str = ""
    after: str = ""


class Attempt(Struct, frozen=True):
    """Something that was tried and is not kept."""

    title: str
    why: str


class Peeled(Struct, frozen=True):
    baseline: Trial
    # With the eager backend, then with the others.
    final: Trial
    deeper: dict[str, Trial]
    plan: Plan
    steps: tuple[Step, ...]
    # What was tried for the breaks that are left, by `identity`.
    tried: dict[str, tuple[Attempt, ...]]
    out_of_time: bool


class Shop(Protocol):
    """Where things are tried: a workshop, or forks of this process."""

    # Whether the program is run anew each time; then it has to be the same each time.
    @property
    def runs_anew(self) -> bool: ...

    def ask(self, task: Any, plan: Plan = ..., effects: Safety = ..., **more: Any) -> int: ...

    def answer(self, number: int) -> Trial: ...


def without_step(steps: list[Step], step: Step) -> list[Step]:
    """Without a step, and without later rewrites of its file: those have it in their text."""
    place = steps.index(step)
    path = step.candidate.path
    return [
        each
        for number, each in enumerate(steps)
        if number < place or (number > place and (path is None or each.candidate.path != path))
    ]


def plan_of(steps: Iterable[Step]) -> Plan:
    plan = Plan()
    for step in steps:
        plan = step.candidate.added_to(plan)
    return plan


def score(trial: Trial) -> tuple[int, int, int]:
    """Less is better: sites, frames in eager, graphs."""
    if trial.report is None:
        return (10**9, 0, 0)
    summary = trial.report.summary
    return (summary.sites + summary.eager_frames, summary.eager_frames, summary.graphs)


def harm(trial: Trial) -> tuple[int, int, int]:
    """The same where breaks stay: then it matters how much is compiled, not in how many graphs."""
    if trial.report is None:
        return (10**9, 0, 0)
    summary = trial.report.summary
    return (summary.sites + summary.eager_frames, summary.eager_frames, -summary.ops)


def least_safe(candidates: Iterable[Candidate]) -> Safety:
    return max((each.safety for each in candidates), key=_SAFETIES.index, default="exact")

"""Compare an original program with its fixed text for generated inputs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import torch

from bench._soundness.fixed import FixedProgram
from bench._soundness.inputs import Input
from bench._soundness.observe import outcome_of
from fullgraph.fix.runtime.activate import plan_active
from fullgraph.outcomes.compare import SameError, compare_outcomes, metadata_problems
from fullgraph.outcomes.observe import CallOutcome

_BACKEND = "aot_eager"


@dataclass(frozen=True)
class Difference:
    """An input for which a fixed program does something else."""

    mode: str
    problem: str
    given: Input


@dataclass
class Compared:
    """How many inputs were compared, and which differ."""

    eager: int = 0
    compiled: int = 0
    # Inputs that the original rejects.
    rejected: int = 0
    differences: list[Difference] = field(default_factory=list)


def compare_all(
    original: str, fixed: FixedProgram, inputs: Iterable[Input], compiled: int
) -> Compared:
    """Compare both texts in eager mode for all inputs, and compiled for some of them."""
    found = Compared()
    for given in inputs:
        before = outcome_of(original, given)
        if before is None:
            continue
        found.eager += 1
        found.rejected += bool(before.raised)
        problem = eager_problem(original, fixed.text, given, before)
        if problem:
            found.differences.append(Difference("eager", problem, given))
        elif found.compiled < compiled and (not before.raised or found.compiled % 3 == 2):
            found.compiled += 1
            problem = compiled_problem(original, fixed, given, before)
            if problem:
                found.differences.append(Difference("compiled", problem, given))
    return found


def eager_problem(
    original: str, fixed: str, given: Input, before: CallOutcome | None = None
) -> str:
    """Return how the fixed program differs in eager mode; empty if it does not."""
    before = before or outcome_of(original, given)
    after = outcome_of(fixed, given)
    if before is None or after is None:
        return "" if before is after else "the input can only be made for one of both"
    same: SameError = "own" if given.has_usual_kinds else "any"
    problem = _difference(before, after, same)
    if problem and (again := outcome_of(original, given)) and _difference(before, again, same):
        # The original does something else each time.
        return ""
    return problem


def _difference(before: CallOutcome, after: CallOutcome, same_error: SameError) -> str:
    # What fixes add at module level is not compared.
    if before.raised and after.raised and same_error == "any":
        return ""
    kept = {name: leaf for name, leaf in after.state.items() if _is_known(name, before)}
    after.state = kept
    problems = compare_outcomes(before, after, exact=True, same_error=same_error).problems
    problems += metadata_problems(before.metadata, after.metadata)
    return problems[0] if problems else ""


def _is_known(name: str, before: CallOutcome) -> bool:
    return name in before.state or not name.startswith("global ")


def compiled_problem(
    original: str, fixed: FixedProgram, given: Input, before: CallOutcome | None = None
) -> str:
    """Return how the fixed program differs compiled, from the original eager and compiled."""
    before = before or outcome_of(original, given)
    with plan_active(fixed.plan):
        after = _compiled(fixed.text, given)
    if before is None or after is None:
        return ""
    problem = _compiled_difference(before, after, fixed.effects)
    if not problem:
        return ""
    by_itself = _compiled(original, given)
    if by_itself is None or not _compiled_difference(by_itself, after, fixed.effects):
        return ""
    # Settings alone may change what the original does compiled; a user sees that as well.
    return problem


def _compiled_difference(before: CallOutcome, after: CallOutcome, effects: str) -> str:
    after.state = {name: leaf for name, leaf in after.state.items() if _is_known(name, before)}
    problems = compare_outcomes(
        before, after, exact=False, effects=effects, allow_zeros=True
    ).problems
    if not before.raised and not after.raised:
        problems += [
            each
            for each in metadata_problems(before.metadata, after.metadata)
            if each.startswith(("requires_grad", "memory of", "write", "result"))
        ]
    return problems[0] if problems else ""


def _compiled(text: str, given: Input) -> CallOutcome | None:
    torch._dynamo.reset()

    def prepare(function: Any) -> Any:
        return torch.compile(function, backend=_BACKEND)

    return outcome_of(text, given, prepare)

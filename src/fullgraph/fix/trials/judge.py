"""Compares the outcomes of a trial with those of the original program.

    python -m fullgraph.fix.trials.judge REQUESTS REPLIES

Trials write outcomes as tensors and text. The judge is a process that never loads the program's
code, so nothing that a program does to the functions that compare can hide a difference. For each
line in REQUESTS it writes a verdict and answers with a line in REPLIES.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from msgspec import json
from msgspec.structs import replace

from fullgraph.fix.model import Difference, Mode, TrialRequest, Verdict
from fullgraph.fix.trials.judge_probes import failed_probes
from fullgraph.fix.trials.runner import (
    Part,
    is_recorded,
    is_repeated,
    outcome_file,
    reference_of,
    verdict_file,
)
from fullgraph.model.fix_kinds import Safety
from fullgraph.outcomes.compare import compare_outcomes, without_new_attributes
from fullgraph.outcomes.files import Outcomes, load_outcomes
from fullgraph.outcomes.observe import CallOutcome
from fullgraph.outcomes.varying import Varying, varying_parts, without_varying

_MOST_DIFFERENCES = 12
_MISSING = "the outcome of this call is missing"


def judge(part: Part, request: TrialRequest) -> Verdict:
    """Return how the outcomes of one part of a trial differ from the original program's."""
    if request.task == "reference":
        return _judge_reference(reference_of(part))
    if request.task == "probe":
        return Verdict(failed_probes=failed_probes(part, request))
    if request.task != "trial":
        return Verdict()
    verdict = _Judge(part, request).verdict()
    if not request.also:
        return verdict
    other = _Judge(part, replace(request, backend=request.also), "also")
    return replace(verdict, also=other.verdict())


def _judge_reference(part: Part) -> Verdict:
    """Compare two runs of the original program: what differs is not compared later."""
    eager = load_outcomes(outcome_file(part, "eager"))
    varying = _varying(part)
    differences = tuple(
        Difference(name, "the results differ each time", "eager")
        for name, found in varying.items()
        if found.all
    )
    return Verdict(
        differences=differences[:_MOST_DIFFERENCES],
        gradients=_gradients(eager),
        raising=_raising(eager, load_outcomes(outcome_file(part, "compiled"))),
        varying=tuple(name for name, found in varying.items() if found),
    )


def _gradients(eager: Outcomes) -> int:
    """Return how many gradients are compared, without those of repeated calls."""
    return sum(len(each.gradients) for name, each in eager.items() if not is_repeated(name))


def _raising(eager: Outcomes, made: Outcomes) -> int:
    """Return how many of the calls that were made raise in the original program."""
    return sum(bool(eager[name].raised) for name in made if not is_repeated(name))


def _varying(part: Part) -> dict[str, Varying]:
    """Return what the original program does differently each time, by the name of the call."""
    return _varying_in(str(outcome_file(part, "eager")), str(outcome_file(part, "again")))


@lru_cache(maxsize=16)
def _varying_in(once: str, again: str) -> dict[str, Varying]:
    first, second = load_outcomes(Path(once)), load_outcomes(Path(again))
    return {name: varying_parts(outcome, second[name]) for name, outcome in first.items()}


def eager_problems(
    part: Part,
    compiled: Outcomes | None = None,
    *,
    exact: bool = True,
    effects: Safety = "exact",
) -> bool:
    """Return whether outcomes differ from the original program's, to end a lost trial early.

    These are the eager outcomes of the part, or `compiled`. Only the judge accepts a trial.
    """
    reference = reference_of(part)
    before = load_outcomes(outcome_file(reference, "eager"))
    after = load_outcomes(outcome_file(part, "eager")) if compiled is None else compiled
    varying = _varying(reference)
    return any(
        compare_outcomes(
            without_varying(before[name], varying[name]),
            without_varying(outcome, varying[name]),
            exact=exact,
            effects=effects,
        ).problems
        for name, outcome in after.items()
    )


class _Judge:
    def __init__(self, part: Part, request: TrialRequest, outcomes: str = "compiled") -> None:
        self._request = request
        reference = reference_of(part)
        self._varying = _varying(reference)
        self._before = load_outcomes(outcome_file(reference, "eager"))
        self._compiled_before = load_outcomes(outcome_file(reference, "compiled"))
        self._eager = _loaded(part, "eager")
        self._compiled = _loaded(part, outcomes)
        self._largest = 0.0
        self._zero_gradients = 0
        self._new_attributes: dict[str, None] = {}

    def verdict(self) -> Verdict:
        differences = list(self._differences())
        if self._compiled is None and not differences:
            differences.append(Difference("compiled calls", _MISSING, "compiled"))
        return Verdict(
            differences=tuple(differences[:_MOST_DIFFERENCES]),
            largest=self._largest,
            gradients=_gradients(self._before),
            zero_gradients=self._zero_gradients,
            raising=_raising(self._before, self._compiled or {}),
            new_attributes=tuple(self._new_attributes),
        )

    def _missing(self) -> Iterator[Difference]:
        """Yield the calls of which a process with changed code has left no outcome."""
        for name in self._before:
            is_made = self._request.varied or is_recorded(name)
            if self._eager is not None and name not in self._eager:
                yield Difference(name, _MISSING, "eager")
            if self._compiled is not None and is_made and name not in self._compiled:
                yield Difference(name, _MISSING, "compiled")

    def _differences(self) -> Iterator[Difference]:
        if self._request.confinement is not None or self._request.given:
            yield from self._missing()
        if self._eager is None and self._request.plan.files:
            yield Difference("eager calls", _MISSING, "eager")
        for name, outcome in (self._eager or {}).items():
            yield from self._compare(name, outcome, "eager")
        for name, outcome in (self._compiled or {}).items():
            yield from self._compare(name, outcome, "compiled")

    def _compare(self, name: str, outcome: CallOutcome, mode: Mode) -> Iterator[Difference]:
        exact = mode == "eager"
        # In eager mode our own fixes may drop no output: they change compiled code only.
        safety: Safety = self._request.eager_safety if exact else self._request.safety
        varying = self._varying[name]
        before = without_varying(self._before[name], varying)
        after = without_varying(outcome, varying)
        if self._request.given:
            after, added = without_new_attributes(before, after)
            self._new_attributes.update(dict.fromkeys(added))
        # With the eager backend the fix itself would have made a gradient of zeros.
        zeros = not exact and self._request.backend != "eager"
        found = compare_outcomes(before, after, exact=exact, effects=safety, allow_zeros=zeros)
        self._zero_gradients = max(self._zero_gradients, found.zeros)
        if found.problems and not exact and name in self._compiled_before:
            # Where compiling already changes the result, that result counts as right, too.
            instead = compare_outcomes(
                without_varying(self._compiled_before[name], varying),
                after,
                exact=False,
                effects=safety,
            )
            found = found if instead.problems else instead
        self._largest = max(self._largest, found.largest)
        for problem in found.problems:
            yield Difference(name, problem, mode)


def _loaded(part: Part, name: str) -> Outcomes | None:
    file = outcome_file(part, name)
    return load_outcomes(file) if file.exists() else None


def write_verdict(part: Part, request: TrialRequest) -> None:
    """Judge a part of a trial and write the verdict to its folder."""
    try:
        verdict = judge(part, request)
    except Exception as error:
        # Whatever is wrong with the files, what they say was not verified.
        verdict = Verdict(error=f"the outcomes cannot be compared: {error!r}")
    verdict_file(part).write_bytes(json.encode(verdict))


def serve(requests: int, replies: int) -> None:
    """Judge until the pipe of requests is closed."""
    with os.fdopen(requests, "rb") as lines:
        for line in lines:
            part, request = json.decode(line, type=tuple[Part, TrialRequest])
            write_verdict(part, request)
            os.write(replies, json.encode(part) + b"\n")


if __name__ == "__main__":
    serve(int(sys.argv[1]), int(sys.argv[2]))

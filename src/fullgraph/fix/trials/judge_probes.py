"""Compares what probes did with the original program and with a plan: what the plan assumes.

Runs in the process of the judge.
"""

from __future__ import annotations

import re
from functools import cached_property

from msgspec.structs import replace

from fullgraph.fix.model import FailedProbe, Mode, TrialRequest
from fullgraph.fix.trials.probe_files import (
    ProbeNote,
    ProbesFile,
    SideKey,
    outcomes_of,
    outcomes_of_backend,
)
from fullgraph.fix.trials.probes.values import ALL_REQUIRE_GRADIENTS, NO_GRADIENTS
from fullgraph.fix.trials.runner import Part, outcome_file
from fullgraph.outcomes.compare import (
    Comparison,
    compare_outcomes,
    metadata_problems,
    without_new_attributes,
)
from fullgraph.outcomes.files import Outcomes, load_outcomes
from fullgraph.outcomes.observe import CallOutcome

NO_ZEROS = "no caller tells a gradient of zeros from None"
# How the names of probes end that add gradients.
_WITH_GRADIENTS = ("requires gradients", "gradients are enabled")
# What a caller may rely on, by how a problem begins.
_RELIED_ON = {
    "memory of": "which results share memory with the arguments or with each other",
    "strides of input": "the strides of the arguments after the call",
    "strides of": "the strides of the results",
    "requires_grad of input": "which arguments require gradients after the call",
    "requires_grad of": "which results require gradients",
    "writes to": "which arguments are written to",
}


def failed_probes(part: Part, request: TrialRequest) -> tuple[FailedProbe, ...]:
    """Return the probes for which the plan of a request differs, with what that assumes."""
    return _ProbeJudge(part, request).failed()


class _ProbeJudge:
    def __init__(self, part: Part, request: TrialRequest) -> None:
        self._request = request
        file = ProbesFile.read(part)
        self._file = file
        self._original = outcomes_of(file.original)
        self._fixed = outcomes_of(file.fixed)
        self._again = outcomes_of(file.again)
        self._with_tensors = load_outcomes(outcome_file(part, "original"))
        self._compiled = {each: _loaded(part, "fixed", each) for each in file.backends}
        self._alone = {each: _loaded(part, "alone", each) for each in file.backends}
        self._failed: dict[tuple[str, Mode], FailedProbe] = {}

    def failed(self) -> tuple[FailedProbe, ...]:
        if self._request.plan.files:
            self._compare_eager()
        for backend in self._file.backends:
            self._compare_compiled(backend)
        self._drop_explained_pairs()
        self._drop_unstable()
        self._drop_explained_helpers()
        failed = map(self._attributed, list(self._failed.values()))
        return tuple(map(self._blamed_on_side, failed))

    def _compare_eager(self) -> None:
        for note in self._file.notes:
            before, after = self._original[note.name], self._fixed[note.name]
            if self._request.given:
                after, _ = without_new_attributes(before, after)
            effects = self._request.eager_safety
            problems = compare_outcomes(
                before, after, exact=True, effects=effects, same_error="own"
            ).problems
            self._fail(note, "eager", problems)
            if not problems and not before.raised:
                for problem in metadata_problems(before.metadata, after.metadata):
                    assumption = _about_metadata(problem, note.helper)
                    failed = FailedProbe(note.name, assumption, problem, "eager", False)
                    self._failed.setdefault((assumption, "eager"), failed)

    def _compare_compiled(self, backend: str) -> None:
        fixed, alone = self._compiled[backend], self._alone[backend]
        zeros: list[ProbeNote] = []
        for note in self._file.notes:
            after = fixed.get(note.name)
            if after is None:
                continue
            before = self._with_tensors[note.name]
            if self._request.given:
                after, _ = without_new_attributes(before, after)
            found = self._compared(before, after)
            # Where compiling the original changes the result as well, the fix is not to blame.
            by_itself = alone.get(note.name)
            if found.problems and (by_itself is None or self._compared(by_itself, after).problems):
                self._fail(note, "compiled", found.problems)
            elif found.zeros and not found.problems:
                zeros.append(note)
        if zeros and not self._zeros_by_itself(zeros, fixed, alone):
            what = "a gradient is zero instead of None"
            failed = FailedProbe(zeros[0].name, NO_ZEROS, what, "compiled", False)
            self._failed.setdefault((NO_ZEROS, "compiled"), failed)

    def _zeros_by_itself(self, notes: list[ProbeNote], fixed: Outcomes, alone: Outcomes) -> bool:
        """Return whether compiling the original makes the same gradients zero instead of None."""
        return any(
            each.name in alone and not self._compared(alone[each.name], fixed[each.name]).zeros
            for each in notes
        )

    def _compared(self, before: CallOutcome, after: CallOutcome) -> Comparison:
        safety = self._request.safety
        return compare_outcomes(before, after, exact=False, effects=safety, allow_zeros=True)

    def _fail(self, note: ProbeNote, mode: Mode, problems: list[str]) -> None:
        if problems:
            failed = FailedProbe(note.name, note.assumption, problems[0], mode, note.is_metadata)
            self._failed.setdefault((note.name, mode), failed)

    def _drop_explained_pairs(self) -> None:
        """Drop the failures of combined changes of which one fails by itself.

        A change together with gradients is one that a probe of its own combines with gradients.
        """
        combined = {each.name: each.combines for each in self._file.notes if each.combines}
        names = {name for name, _ in self._failed}
        for key in list(self._failed):
            parts = set(combined.get(key[0], ()))
            if any(each.endswith(_WITH_GRADIENTS) for each in parts):
                parts |= {f"{each}, with gradients" for each in parts}
            if not names.isdisjoint(parts):
                del self._failed[key]

    def _drop_unstable(self) -> None:
        """Drop what the original program does differently each time, such as counting calls."""
        for key, failed in list(self._failed.items()):
            again = self._again.get(failed.name)
            if again is not None and not _is_stable(self._original[failed.name], again):
                del self._failed[key]

    def _drop_explained_helpers(self) -> None:
        """Drop what a helper assumes if the compiled function assumes the same of an argument."""
        helpers = {each.name: each.helper for each in self._file.notes if each.helper}
        own = {
            _without_names(each.assumption)
            for each in self._failed.values()
            if each.name not in helpers
        }
        for key, failed in list(self._failed.items()):
            start = f"in `{helpers.get(failed.name)}`, "
            if failed.name in helpers and (
                _without_names(failed.assumption.removeprefix(start)) in own
            ):
                del self._failed[key]

    def _attributed(self, failed: FailedProbe) -> FailedProbe:
        """Return a failure with the assumption about gradients if it is only with gradients."""
        base = next((each.base for each in self._file.notes if each.name == failed.name), "")
        names = {each.name for each in self._failed.values()}
        if not base or base in names or failed.assumption == NO_ZEROS:
            return failed
        helper = next((each.helper for each in self._file.notes if each.name == failed.name), "")
        own = f"{helper}: {ALL_REQUIRE_GRADIENTS}" if helper else ALL_REQUIRE_GRADIENTS
        general = next((each for each in names if each.endswith(own)), None)
        assumption = (
            NO_GRADIENTS if general is not None else f"{failed.assumption} where gradients matter"
        )
        return FailedProbe(failed.name, assumption, failed.what, failed.mode, general is not None)

    def _blamed_on_side(self, failed: FailedProbe) -> FailedProbe:
        """Return a failure with the assumption that a side never runs, if that is the reason.

        It is, if no recorded call runs the side, and most probes fail that do. Some inputs hide
        the difference, such as numbers that are so large that adding one changes nothing.
        """
        sentences = dict(self._file.excluding)
        for side in sorted(self._unrecorded(self._sides.get(failed.name, ()))):
            if side in self._guilty:
                return replace(failed, assumption=sentences[side], is_metadata=False)
        return failed

    @cached_property
    def _sides(self) -> dict[str, tuple[SideKey, ...]]:
        return {each.name: each.sides for each in self._file.notes}

    def _unrecorded(self, sides: tuple[SideKey, ...]) -> set[SideKey]:
        return set(sides) - set(self._file.recorded_sides)

    @cached_property
    def _guilty(self) -> set[SideKey]:
        """The sides for which the fixed program differs, whatever else the input is."""
        failed = {each.name for each in self._failed.values()}
        every = tuple(side for sides in self._sides.values() for side in sides)
        found = set()
        for side in self._unrecorded(every):
            running = {
                each.name
                for each in self._file.notes
                if not each.is_metadata and not each.helper and side in each.sides
            }
            if running and 2 * len(running & failed) >= len(running):
                found.add(side)
        return found


def _loaded(part: Part, which: str, backend: str) -> Outcomes:
    return load_outcomes(outcomes_of_backend(part, which, backend))


def _is_stable(once: CallOutcome, again: CallOutcome) -> bool:
    return not compare_outcomes(once, again, exact=True).problems and not metadata_problems(
        once.metadata, again.metadata
    )


def _about_metadata(problem: str, helper: str) -> str:
    """Return what a fix assumes whose results differ only in metadata."""
    caller = f"no caller of `{helper}`" if helper else "no caller"
    for start, relied_on in _RELIED_ON.items():
        if problem.startswith(start):
            return f"{caller} relies on {relied_on}"
    return f"{caller} relies on the {problem.partition(':')[0]}"


def _without_names(sentence: str) -> str:
    return re.sub(r" of `[^`]*` relies", " relies", re.sub(r"`[^`]*` is", "` is", sentence))

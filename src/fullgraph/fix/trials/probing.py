"""The trial that runs probes: which assumptions a plan makes.

The original program runs every probe in eager mode, then the fixed one does, and compiled code runs
those for which compiling can matter.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

import msgspec
import torch

from fullgraph.fix.model import FailedProbe, Mode, ProbesRun, TrialRequest, TrialResult
from fullgraph.fix.record.recorder import CallRecorder, RecordedCall
from fullgraph.fix.runtime.activate import plan_active
from fullgraph.fix.runtime.hot_patch import patch_functions
from fullgraph.fix.runtime.signature import signature_of
from fullgraph.fix.trials.compiled import compile_target
from fullgraph.fix.trials.coverage import unreached_lines
from fullgraph.fix.trials.outcome import run_call
from fullgraph.fix.trials.plan_reach import without_redundant
from fullgraph.fix.trials.probes import Probe, pairs_of, probes_of
from fullgraph.fix.trials.probes._probe import applied
from fullgraph.fix.trials.probes.values import ALL_REQUIRE_GRADIENTS, NO_GRADIENTS
from fullgraph.fix.trials.samples import samples_of
from fullgraph.fix.trials.side_observer import Side
from fullgraph.fix.trials.sides import SideCoverage, cover_sides, probes_from
from fullgraph.outcomes.compare import compare_outcomes, metadata_problems
from fullgraph.outcomes.observe import CallOutcome

_BACKEND = "aot_eager"
# At least so many calls are tried for each side of a rewritten test that no other call runs. They
# run in eager mode, so a program of any size can afford them.
_LEAST_SEARCHED = 120
# What a caller may rely on, by how a problem begins.
_RELIED_ON = {
    "memory of": "which results share memory with the arguments or with each other",
    "strides of": "the strides of the results",
    "requires_grad of": "which results require gradients",
    "writes to": "which arguments are written to",
}
_Compiler = Callable[[], Callable[..., Any]]


def first_calls(recorder: CallRecorder) -> list[RecordedCall]:
    """Return the first recorded call of each compiled function."""
    first: dict[int, RecordedCall] = {}
    for call in recorder.calls:
        first.setdefault(id(call.target), call)
    return list(first.values())


def probes_to_run(request: TrialRequest, recorder: CallRecorder) -> list[Probe]:
    """Return all probes of the first call of each function."""
    calls = first_calls(recorder)
    return [
        _of_function(call.target.name, probe) if len(calls) > 1 else probe
        for call in calls
        for probe in probes_of(call, request.most_probes)
    ]


def pairs_to_run(request: TrialRequest, recorder: CallRecorder) -> list[Probe]:
    """Return calls that differ in two properties; half as many as probes."""
    calls = first_calls(recorder)
    return [
        _of_function(call.target.name, probe) if len(calls) > 1 else probe
        for call in calls
        for probe in pairs_of(call, request.most_probes // 2)
    ]


def side_coverage(
    request: TrialRequest, recorder: CallRecorder, probes: list[Probe]
) -> SideCoverage:
    """Find calls for both sides of the tests that a request names."""
    samples = samples_of(recorder)
    recorded = probes_from([(each.name, each.call) for each in samples])
    compiled = {each.name for each in _compiled_of(probes, request.most_compiled)}
    return cover_sides(
        tuple(request.all_fixes.files.values()),
        recorded,
        probes,
        compiled=compiled,
        most_calls=max(request.most_probes, _LEAST_SEARCHED),
    )


def _compiled_of(probes: Sequence[Probe], most: int) -> list[Probe]:
    """Return the probes that run compiled.

    Those with other values share what was compiled; others need a compile each.
    """
    wanted = [each for each in probes if each.compiled]
    values = [each for each in wanted if not each.is_metadata]
    return [*values[:most], *[each for each in wanted if each.is_metadata][:most]]


def _of_function(function: str, probe: Probe) -> Probe:
    base = f"{function}: {probe.base}" if probe.base else ""
    combines = tuple(f"{function}: {each}" for each in probe.combines)
    return replace(probe, name=f"{function}: {probe.name}", base=base, combines=combines)


def run_probes(request: TrialRequest, recorder: CallRecorder) -> TrialResult:
    """Run the probes of a request with the original program and with its plan, and compare."""
    samples = samples_of(recorder)
    probes = probes_to_run(request, recorder)
    if request.most_compiled:
        probes = without_redundant(probes, request.all_fixes, samples)
    # Which sides are searched for depends on all probes, also if some of them run.
    sides = side_coverage(request, recorder, probes)
    wanted = [
        each
        for each in (*sides.added, *probes, *pairs_to_run(request, recorder))
        if not request.probes or each.name in request.probes
    ]
    result = _Probing(request, wanted, sides).run()
    return msgspec.structs.replace(
        result,
        signatures=_signatures(recorder),
        unreached_sides=sides.unreached,
        unreached=unreached_lines(request.lines, samples, [*probes, *sides.added]),
    )


def _signatures(recorder: CallRecorder) -> tuple[str, ...]:
    found = []
    for call in recorder.calls:
        with call.context.restored():
            found.append(repr(signature_of(call.args, call.kwargs, call.target.original)))
    return tuple(dict.fromkeys(found))


class _Probing:
    def __init__(self, request: TrialRequest, probes: list[Probe], sides: SideCoverage) -> None:
        self._request = request
        self._probes = probes
        self._sides = sides
        self._failed: dict[tuple[str, Mode], FailedProbe] = {}

    def run(self) -> TrialResult:
        compiled = self._compiled_probes()
        if not self._request.plan.files:
            # Settings and value guards change nothing in eager mode.
            self._probes = compiled
        original = {each.name: run_probe(each) for each in self._probes}
        restore = patch_functions(self._request.plan.files.values())
        try:
            if self._request.plan.files:
                self._compare(original, {each.name: run_probe(each) for each in self._probes})
            with plan_active(self._request.plan):
                fixed = _run_all_compiled(compiled)
        finally:
            restore()
        self._compare_compiled(original, fixed)
        self._drop_explained_pairs()
        self._drop_unstable(original)
        ran = ProbesRun(len(self._probes), len(compiled))
        failed = tuple(self._attributed(each) for each in self._failed.values())
        failed = tuple(map(self._blamed_on_side, failed))
        return TrialResult(self._request.number, None, failed_probes=failed, probes=ran)

    def _compiled_probes(self) -> list[Probe]:
        """Return the probes that run compiled: all that are for sides, and some of the others."""
        added = {each.name for each in self._sides.added}
        for_sides = [each for each in self._probes if each.compiled and each.name in added]
        others = [each for each in self._probes if each.name not in added]
        return [*for_sides, *_compiled_of(others, self._request.most_compiled)]

    def _compare(self, original: dict[str, CallOutcome], fixed: dict[str, CallOutcome]) -> None:
        for probe in self._probes:
            before, after = original[probe.name], fixed[probe.name]
            found = compare_outcomes(before, after, exact=True, same_error="type")
            self._note(probe, "eager", found.problems)
            if not found.problems and not before.raised:
                for problem in metadata_problems(before.metadata, after.metadata):
                    assumption = _about_metadata(problem)
                    failed = FailedProbe(probe.name, assumption, problem, "eager", False)
                    self._failed.setdefault((assumption, "eager"), failed)

    def _compare_compiled(
        self, original: dict[str, CallOutcome], fixed: dict[str, CallOutcome]
    ) -> None:
        for probe in self._probes:
            if probe.name not in fixed:
                continue
            problems = self._compiled_problems(original[probe.name], fixed[probe.name])
            # Where compiling the original changes the result as well, the fix is not to blame.
            by_itself = _run_all_compiled([probe])[probe.name] if problems else None
            if by_itself is not None and self._compiled_problems(by_itself, fixed[probe.name]):
                self._note(probe, "compiled", problems)

    def _compiled_problems(self, before: CallOutcome, after: CallOutcome) -> list[str]:
        safety = self._request.safety
        return compare_outcomes(
            before, after, exact=False, effects=safety, allow_zeros=True
        ).problems

    def _note(self, probe: Probe, mode: Mode, problems: list[str]) -> None:
        if problems:
            failed = FailedProbe(probe.name, probe.assumption, problems[0], mode, probe.is_metadata)
            self._failed.setdefault((probe.name, mode), failed)

    def _blamed_on_side(self, failed: FailedProbe) -> FailedProbe:
        """Return a failure with the assumption that a side never runs, if that is the reason.

        It is, if no recorded call runs the side, and most probes fail that do. Some inputs hide
        the difference, such as numbers that are so large that adding one changes nothing.
        """
        for side in sorted(self._sides.sides.get(failed.name, set()) - self._sides.recorded):
            if side in self._guilty:
                return msgspec.structs.replace(
                    failed, assumption=self._sides.assumption(side), is_metadata=False
                )
        return failed

    @cached_property
    def _guilty(self) -> set[Side]:
        """The sides for which the fixed program differs, whatever else the input is."""
        failed = {each.name for each in self._failed.values()}
        found = set()
        for side in set().union(*self._sides.sides.values()) - self._sides.recorded:
            running = {
                each.name
                for each in self._probes
                if not each.is_metadata and side in self._sides.sides.get(each.name, ())
            }
            if running and 2 * len(running & failed) >= len(running):
                found.add(side)
        return found

    def _attributed(self, failed: FailedProbe) -> FailedProbe:
        """Return a failure with the assumption about gradients if it is only with gradients."""
        base = next((each.base for each in self._probes if each.name == failed.name), "")
        names = {each.name for each in self._failed.values()}
        if not base or base in names:
            return failed
        general = next((each for each in names if each.endswith(ALL_REQUIRE_GRADIENTS)), None)
        assumption = (
            NO_GRADIENTS if general is not None else f"{failed.assumption} where gradients matter"
        )
        return FailedProbe(failed.name, assumption, failed.what, failed.mode, general is not None)

    def _drop_explained_pairs(self) -> None:
        """Drop the failures of combined changes of which one fails by itself."""
        combined = {each.name: each.combines for each in self._probes if each.combines}
        names = {name for name, _ in self._failed}
        for key in [key for key in self._failed if not names.isdisjoint(combined.get(key[0], ()))]:
            del self._failed[key]

    def _drop_unstable(self, original: dict[str, CallOutcome]) -> None:
        """Drop what the original program does differently each time, such as counting calls."""
        for probe in self._probes:
            keys = [key for key, failed in self._failed.items() if failed.name == probe.name]
            if keys and not _is_stable(original[probe.name], run_probe(probe)):
                for key in keys:
                    del self._failed[key]


def _is_stable(once: CallOutcome, again: CallOutcome) -> bool:
    return not compare_outcomes(once, again, exact=True).problems and not metadata_problems(
        once.metadata, again.metadata
    )


def _about_metadata(problem: str) -> str:
    """Return what a fix assumes whose results differ only in metadata."""
    for start, relied_on in _RELIED_ON.items():
        if problem.startswith(start):
            return f"no caller relies on {relied_on}"
    return f"no caller relies on the {problem.partition(':')[0]}"


def run_probe(probe: Probe) -> CallOutcome:
    """Run a probe in eager mode."""
    return _run(probe, lambda: probe.call.target.original)


def _run_all_compiled(probes: list[Probe]) -> dict[str, CallOutcome]:
    """Run probes with compiled code; those that differ only in values share what was compiled."""
    outcomes: dict[str, CallOutcome] = {}
    functions: dict[int, Callable[..., Any]] = {}
    torch._dynamo.reset()
    # A stable sort: those with other metadata come last.
    for probe in sorted(probes, key=lambda each: each.is_metadata):
        if probe.is_metadata:
            torch._dynamo.reset()
            functions.clear()
        target = probe.call.target
        if id(target) not in functions:
            functions[id(target)] = compile_target(target, _BACKEND)
        outcomes[probe.name] = _run(probe, partial(functions.__getitem__, id(target)))
    return outcomes


def _run(probe: Probe, function: _Compiler) -> CallOutcome:
    with applied(probe):
        return run_call(probe.call, function(), probe.call.target, probe.computed)

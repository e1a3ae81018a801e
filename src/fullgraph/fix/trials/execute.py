"""What the process of one trial does: apply the plan, run eager and compiled code, compare.

Every sample starts from the same state of its module, so the order of samples does not matter.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from msgspec.structs import replace

from fullgraph.capture.api import Watch
from fullgraph.fix.model import (
    Difference,
    GuardCost,
    Mode,
    Samples,
    TrialRequest,
    TrialResult,
)
from fullgraph.fix.record.recorder import CallRecorder, CompiledTarget
from fullgraph.fix.runtime.activate import plan_active
from fullgraph.fix.runtime.hot_patch import patch_functions
from fullgraph.fix.trials.compiled import compile_target
from fullgraph.fix.trials.coverage import unreached_lines
from fullgraph.fix.trials.outcome import run_call
from fullgraph.fix.trials.probes import Probe
from fullgraph.fix.trials.probing import probes_to_run, run_probes
from fullgraph.fix.trials.samples import Sample, samples_of, state_restored
from fullgraph.fix.trials.timing import time_calls
from fullgraph.fix.trials.variants import time_variants
from fullgraph.model.fix_kinds import Safety
from fullgraph.outcomes.compare import compare_outcomes
from fullgraph.outcomes.observe import CallOutcome
from fullgraph.value_guards import GuardRecord

# The outcomes of the original program, in the folder of the trials.
_EAGER_REFERENCE = "eager-reference.pt"
_COMPILED_REFERENCE = "compiled-reference.pt"
_MOST_DIFFERENCES = 12
_REPETITIONS = 2

Outcomes = dict[str, CallOutcome]


def execute(request: TrialRequest, recorder: CallRecorder, folder: Path) -> TrialResult:
    """Execute a request; afterwards functions have their own code again.

    Whatever else the program changes, such as its globals, ends with the process of the trial.
    """
    if request.task == "probe":
        return run_probes(request, recorder)
    samples = samples_of(recorder)
    match request.task:
        case "reference":
            return _record_reference(request, samples, folder)
        case "coverage":
            samples += [_as_sample(each) for each in probes_to_run(request, recorder)]
            unreached = unreached_lines(request.lines, samples)
            return TrialResult(request.number, None, unreached=unreached)
        case "variants":
            return time_variants(request, samples)
    restore = patch_functions(request.plan.files.values())
    try:
        if request.task == "timing":
            return time_calls(request, samples)
        eager: Outcomes = torch.load(folder / _EAGER_REFERENCE, weights_only=False)
        compiled: Outcomes = torch.load(folder / _COMPILED_REFERENCE, weights_only=False)
        return TrialExecution(request, samples, eager, compiled).run()
    finally:
        restore()


def _as_sample(probe: Probe) -> Sample:
    return Sample(probe.name, probe.call, recorded=False)


def _record_reference(request: TrialRequest, samples: list[Sample], folder: Path) -> TrialResult:
    """Run the original program twice in eager mode, then compiled, and keep the outcomes."""
    eager: Outcomes = {}
    differences: list[Difference] = []
    for sample in samples:
        eager[sample.name] = _run_eager(sample)
        found = compare_outcomes(eager[sample.name], _run_eager(sample), exact=True)
        differences += [Difference(sample.name, each, "eager") for each in found.problems]
    execution = TrialExecution(replace(request, varied=False), samples, eager, {})
    result = execution.run()
    if any(
        compare_outcomes(eager[name], outcome, exact=False).problems
        for name, outcome in execution.compiled.items()
    ):
        # Compiling already changes results, so the results for varied inputs matter too.
        execution.run_varied()
    torch.save(eager, folder / _EAGER_REFERENCE)
    torch.save(execution.compiled, folder / _COMPILED_REFERENCE)
    # Differences of compiled code are torch's; the reference is about eager mode alone.
    return replace(result, differences=tuple(differences[:_MOST_DIFFERENCES]))


def _run_eager(sample: Sample) -> CallOutcome:
    target = sample.call.target
    with state_restored(target):
        return run_call(sample.call, target.original, target)


class TrialExecution:
    """One plan, run on all samples and compared with the original program."""

    def __init__(
        self,
        request: TrialRequest,
        samples: list[Sample],
        eager_reference: Outcomes,
        compiled_reference: Outcomes,
    ) -> None:
        self._request = request
        self._samples = samples
        self._eager_reference = eager_reference
        self._compiled_reference = compiled_reference
        self.compiled: Outcomes = {}
        self._differences: list[Difference] = []
        self._largest = 0.0
        self._zero_gradients = 0
        self._recompiled = 0
        self._functions: dict[int, Callable[..., Any]] = {}
        self._half_time = time.monotonic() + request.seconds / 2

    def run(self) -> TrialResult:
        """Run eager mode, compiled code, repeated calls and varied inputs."""
        if self._request.task == "trial":
            for sample in self._samples:
                self._compare(sample, _run_eager(sample), "eager")
        torch._dynamo.reset()
        varied_sites = 0
        with plan_active(self._request.plan) as log:
            with Watch() as watch:
                self._run_compiled(recorded=True)
            report = watch.report()
            self._repeat()
            records = list(log.guards) if log is not None else []
            # The cost of the program's own calls, not of varied ones.
            costs = [1e6 * each.seconds / max(each.checked, 1) for each in records]
            if self._request.varied:
                varied_sites = self.run_varied()
        return TrialResult(
            number=self._request.number,
            report=report,
            differences=tuple(self._differences[:_MOST_DIFFERENCES]),
            largest=self._largest,
            gradients=sum(len(each.gradients) for each in self._eager_reference.values()),
            zero_gradients=self._zero_gradients,
            samples=self._samples_run(),
            recompiled=self._recompiled,
            varied_sites=varied_sites,
            guards=tuple(map(_guard_cost, records, costs)),
        )

    def _samples_run(self) -> Samples:
        ran = [sample for sample in self._samples if sample.name in self.compiled]
        return Samples(
            recorded=sum(sample.recorded for sample in self._samples),
            varied=sum(not sample.recorded for sample in ran),
            raising=sum(bool(self._eager_reference[sample.name].raised) for sample in ran),
        )

    def run_varied(self) -> int:
        """Call compiled code with varied inputs; return the number of break sites met."""
        with Watch() as watch:
            self._run_compiled(recorded=False)
        return watch.summary.sites

    def _run_compiled(self, *, recorded: bool) -> None:
        for sample in self._samples:
            is_late = not recorded and time.monotonic() > self._half_time
            if sample.recorded is recorded and not is_late:
                self.compiled[sample.name] = self._run_sample(sample)

    def _repeat(self) -> None:
        """Count compiles while the recorded calls are repeated: there must be none."""
        with Watch() as watch:
            for _ in range(_REPETITIONS):
                for sample in self._samples:
                    if sample.recorded:
                        self._run_sample(sample)
        summary = watch.summary
        self._recompiled = summary.compiles + summary.refused

    def _run_sample(self, sample: Sample) -> CallOutcome:
        target = sample.call.target
        with state_restored(target):
            outcome = run_call(sample.call, self._function(target), target)
        if self._request.task == "trial":
            self._compare(sample, outcome, "compiled")
        return outcome

    def _function(self, target: CompiledTarget) -> Callable[..., Any]:
        if id(target) not in self._functions:
            self._functions[id(target)] = compile_target(target, self._request.backend)
        return self._functions[id(target)]

    def _compare(self, sample: Sample, outcome: CallOutcome, mode: Mode) -> None:
        exact = mode == "eager"
        # In eager mode no output may be dropped: a fix changes compiled code only.
        safety: Safety = "exact" if exact else self._request.safety
        # With the eager backend the fix itself would have made a gradient of zeros.
        allow_zeros = not exact and self._request.backend != "eager"
        found = compare_outcomes(
            self._eager_reference[sample.name],
            outcome,
            exact=exact,
            effects=safety,
            allow_zeros=allow_zeros,
        )
        self._zero_gradients = max(self._zero_gradients, found.zeros)
        if found.problems and not exact and sample.name in self._compiled_reference:
            # Where compiling already changes the result, that result counts as right, too.
            reference = self._compiled_reference[sample.name]
            instead = compare_outcomes(reference, outcome, exact=False, effects=safety)
            found = found if instead.problems else instead
        self._largest = max(self._largest, found.largest)
        self._differences += [Difference(sample.name, each, mode) for each in found.problems]


def _guard_cost(record: GuardRecord, microseconds: float) -> GuardCost:
    """Return what a guard costs per call; its failures include those of varied inputs."""
    return GuardCost(
        file=record.file,
        line=record.line,
        input=record.input,
        kind=record.kind,
        value=record.shown,
        checked=record.checked,
        microseconds=round(microseconds, 1),
        failed=record.failed,
    )

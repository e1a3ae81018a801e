"""What the process of one trial does: apply the plan, run eager and compiled code, keep outcomes.

The original program, the fixed one and compiled code make the same calls in the same order, each in
a process that starts from the same state. So what a call leaves behind, such as a counter, is the
same for all of them. `judge.py` compares the outcomes in another process.
"""

from __future__ import annotations

import os
import resource
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import torch
from msgspec.structs import replace

from fullgraph.capture.api import Watch
from fullgraph.fix.model import MOST_VALUE_COMPILES, GuardCost, Samples, TrialRequest, TrialResult
from fullgraph.fix.record.input_values import InputValues
from fullgraph.fix.record.recorder import CallRecorder, CompiledTarget
from fullgraph.fix.runtime.activate import plan_active
from fullgraph.fix.runtime.hot_patch import patch_functions
from fullgraph.fix.trials.compiled import SharedTraces, compile_target
from fullgraph.fix.trials.exercise import exercised
from fullgraph.fix.trials.judge import eager_problems
from fullgraph.fix.trials.outcome import run_call
from fullgraph.fix.trials.probing import keep_probe_outcomes, run_probes
from fullgraph.fix.trials.runner import Part, outcome_file, reference_of, repeated_name
from fullgraph.fix.trials.samples import Sample, call_restored, samples_of
from fullgraph.fix.trials.setting_use import noting_unused
from fullgraph.fix.trials.timing import time_calls
from fullgraph.fix.trials.variants import time_variants
from fullgraph.outcomes.files import Outcomes, save_outcomes
from fullgraph.value_guards import GuardRecord

_REPETITIONS = 2

# Runs a function where it changes nothing for what follows.
Isolate = Callable[[Callable[[], None]], None]


def run_in_fork(function: Callable[[], None]) -> None:
    """Run a function in a fork of this process and wait for it; RuntimeError if it fails."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            function()
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    if status:
        raise RuntimeError("the recorded call ends its process")


def run_here(function: Callable[[], None]) -> None:
    """Run a function in this process."""
    function()


def execute(
    request: TrialRequest, recorder: CallRecorder, part: Part, isolate: Isolate
) -> TrialResult:
    """Execute a request; afterwards functions have their own code again.

    Outcomes are written to the files of the part. Whatever else the program changes, such as its
    globals, ends with the process of the trial.
    """
    for target in recorder.targets:
        # The names of the original program, before a plan adds others.
        _ = target.named
    if request.task == "probe":
        return run_probes(request, recorder, part)
    samples = samples_of(recorder, varies=part.varies)
    match request.task:
        case "reference":
            return _record_reference(request, samples, reference_of(part), isolate)
        case "exercise":
            return exercised(request, recorder, part)
        case "outcomes":
            return _keep_outcomes(request, samples, part, isolate)
        case "probe_outcomes":
            return keep_probe_outcomes(request, recorder, part)
        case "variants":
            return time_variants(request, samples)
    restore = patch_functions(request.plan.files.values())
    try:
        if request.task == "timing":
            return time_calls(request, samples)
        return _run_trial(request, samples, part, isolate)
    finally:
        restore()


def _record_reference(
    request: TrialRequest, samples: list[Sample], part: Part, isolate: Isolate
) -> TrialResult:
    """Run the original program twice in eager mode, then compiled, and keep the outcomes."""
    eager = outcome_file(part, "eager")
    isolate(lambda: save_outcomes(run_eager(samples), eager))
    isolate(lambda: save_outcomes(run_eager(samples), outcome_file(part, "again")))
    execution = CompiledCalls(replace(request, varied=False), samples)
    result = execution.run()
    if eager_problems(part, execution.outcomes, exact=False):
        # Compiling already changes results, so the results for varied inputs matter too.
        execution.run_varied()
    save_outcomes(execution.outcomes, outcome_file(part, "compiled"))
    return result


def _keep_outcomes(
    request: TrialRequest, samples: list[Sample], part: Part, isolate: Isolate
) -> TrialResult:
    """Run the program as it is, in eager mode and compiled; nothing is compared."""
    isolate(lambda: save_outcomes(run_eager(samples), outcome_file(part, "eager")))
    execution = CompiledCalls(request, samples)
    result = execution.run()
    save_outcomes(execution.outcomes, outcome_file(part, "compiled"))
    if request.also:
        save_outcomes(execution.also_outcomes, outcome_file(part, "also"))
    return result


def _run_trial(
    request: TrialRequest, samples: list[Sample], part: Part, isolate: Isolate
) -> TrialResult:
    eager = outcome_file(part, "eager")
    if request.plan.files:
        isolate(lambda: save_outcomes(run_eager(samples), eager))
        if eager_problems(part, effects=request.eager_safety):
            # The trial is lost; the judge says why.
            return TrialResult(request.number, None)
    execution = CompiledCalls(request, samples)
    result = execution.run(InputValues.load(Path(part.folder)))
    save_outcomes(execution.outcomes, outcome_file(part, "compiled"))
    if request.also:
        save_outcomes(execution.also_outcomes, outcome_file(part, "also"))
    return result


class _Step(NamedTuple):
    """One call of a sequence, under the name of its outcome."""

    name: str
    sample: Sample
    is_repeated: bool = False


def _recorded_steps(samples: list[Sample]) -> Iterator[_Step]:
    recorded = [sample for sample in samples if sample.recorded]
    for sample in recorded:
        yield _Step(sample.name, sample)
    for number in range(2, 2 + _REPETITIONS):
        for sample in recorded:
            yield _Step(repeated_name(sample.name, number), sample, is_repeated=True)


def _varied_steps(samples: list[Sample]) -> Iterator[_Step]:
    for sample in samples:
        if not sample.recorded:
            yield _Step(sample.name, sample)


def run_eager(samples: list[Sample]) -> Outcomes:
    """Make the recorded calls, repeat them, and make the varied ones, all in eager mode."""
    outcomes: Outcomes = {}
    for step in (*_recorded_steps(samples), *_varied_steps(samples)):
        call = step.sample.call
        with call_restored(call):
            outcomes[step.name] = run_call(call, call.target.original, call.target)
    return outcomes


class CompiledCalls:
    """The calls of one trial, made with compiled code."""

    def __init__(self, request: TrialRequest, samples: list[Sample]) -> None:
        self._request = request
        self._samples = samples
        self.outcomes: Outcomes = {}
        # Those of the further backend of the request.
        self.also_outcomes: Outcomes = {}
        self._functions: dict[int, Callable[..., object]] = {}
        self._shared = SharedTraces((request.backend, request.also)) if request.also else None

    def run(self, values: InputValues | None = None) -> TrialResult:
        """Make the recorded calls, repeat them, and make the varied ones if they are wanted.

        With value guards, the calls are also made with the `values` of the program's other calls.

        A further backend makes the same calls after each of these. Where the first one has left
        another state behind, the outcomes differ from those of the original program, and the search
        runs that backend in a trial of its own.
        """
        torch._dynamo.reset()
        steps = list(_recorded_steps(self._samples))
        varied_sites = also_recompiled = also_sites = value_compiles = 0
        settings = self._request.plan.settings
        with plan_active(self._request.plan) as log, noting_unused(settings) as unused:
            with Watch() as watch:
                self._run([step for step in steps if not step.is_repeated])
            session = watch.session()
            recompiled = self._repeat([step for step in steps if step.is_repeated])
            records = list(log.guards) if log is not None else []
            # The cost of the program's own calls, not of varied ones.
            costs = [1e6 * each.seconds / max(each.checked, 1) for each in records]
            with self._also() as is_wanted:
                also_recompiled = self._repeat(steps) if is_wanted else 0
            if self._request.plan.guards and values is not None:
                value_compiles = self._compiles_for(values)
            if self._request.varied:
                varied_sites = self.run_varied()
                with self._also() as is_wanted:
                    also_sites = self.run_varied() if is_wanted else 0
        result = TrialResult(
            number=self._request.number,
            report=None,
            session=session,
            samples=self._samples_run(self.outcomes),
            recompiled=recompiled,
            value_compiles=value_compiles,
            varied_sites=varied_sites,
            guards=tuple(map(_guard_cost, records, costs)),
            unused=tuple(sorted(unused)),
        )
        if self._shared is None:
            return result
        samples = self._samples_run(self.also_outcomes)
        also = replace(
            result,
            session=None,
            samples=samples,
            recompiled=also_recompiled,
            varied_sites=also_sites,
            guards=(),
        )
        return replace(result, also=also)

    @contextmanager
    def _also(self) -> Iterator[bool]:
        """Run the further backend in the block; yield whether there is one."""
        if self._shared is None:
            yield False
            return
        first, self.outcomes = self.outcomes, self.also_outcomes
        self._shared.active = self._request.also
        yield True
        self._shared.active = self._request.backend
        self.outcomes = first

    def _samples_run(self, outcomes: Outcomes) -> Samples:
        return Samples(
            recorded=sum(sample.recorded for sample in self._samples),
            varied=sum(not s.recorded for s in self._samples if s.name in outcomes),
            raising=0,
        )

    def run_varied(self) -> int:
        """Make the calls with varied inputs; return the number of break sites met."""
        enough = self._request.enough_sites
        with Watch() as watch:
            for step in _varied_steps(self._samples):
                self._run([step])
                if enough and watch.summary.sites >= enough:
                    break
        return watch.summary.sites

    def _compiles_for(self, values: InputValues) -> int:
        """Return how often other values of the program compile; no more after too many."""
        compiles = 0
        for sample in self._samples:
            for call in values.changed(sample.call) if sample.recorded else ():
                with Watch() as watch, call_restored(call):
                    run_call(call, self._function(call.target), call.target)
                summary = watch.summary
                compiles += summary.compiles + summary.refused
                if compiles > MOST_VALUE_COMPILES:
                    return compiles
        return compiles

    def _repeat(self, steps: list[_Step]) -> int:
        """Return how often the repeated calls compile: it must be never."""
        with Watch() as watch:
            self._run(steps)
        summary = watch.summary
        return summary.compiles + summary.refused

    def _run(self, steps: list[_Step]) -> None:
        for step in steps:
            call = step.sample.call
            with call_restored(call):
                outcome = run_call(call, self._function(call.target), call.target)
            self.outcomes[step.name] = outcome

    def _function(self, target: CompiledTarget) -> Callable[..., object]:
        if id(target) not in self._functions:
            backend = self._request.backend
            self._functions[id(target)] = compile_target(target, backend, self._shared)
        return self._functions[id(target)]


def cpu_seconds() -> float:
    """Return the CPU time of this process and of the children that it has waited for."""
    usages = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


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

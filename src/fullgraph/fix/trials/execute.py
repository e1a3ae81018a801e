"""What a child of the workshop does: run the recorded calls under a plan, and compare.

Every sample starts from the same state of its module, so the order of samples means nothing.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from types import FrameType
from typing import Any

import torch
from msgspec.structs import replace

from fullgraph.capture.api import Watch
from fullgraph.fix.model import Difference, GuardCost, Request, Safety, Samples, Trial
from fullgraph.fix.record.recorder import Call, Recorder, Target, cloned
from fullgraph.fix.runtime.activate import around
from fullgraph.fix.runtime.hot_patch import apply_patches
from fullgraph.fix.trials.vary_inputs import variations
from fullgraph.outcomes.observe import Outcome, compared, run_call
from fullgraph.value_guards import GuardFact

_REFERENCE = "reference.pt"
_MOST_DIFFERENCES = 12
# Timing goes on until steady calls have taken this long, and for so many rounds; but not longer
# than that, with all that is between calls.
_TIMING = 0.5
_LONGEST_TIMING = 15.0
_STEADY_ROUNDS = 8


@dataclass
class Sample:
    name: str
    call: Call
    recorded: bool


def samples_of(recorder: Recorder) -> list[Sample]:
    """The recorded calls first, then others like them."""
    calls = [Sample(f"call {n}", call, True) for n, call in enumerate(recorder.calls, 1)]
    kinds: dict[int, Sample] = {}
    for sample in calls:
        kinds.setdefault(id(sample.call.target), sample)
    varied = [
        Sample(f"{sample.name}, {name}", call, False)
        for sample in kinds.values()
        for name, call in variations(sample.call)
    ]
    return calls + varied


def perform(request: Request, recorder: Recorder, folder: Path) -> Trial:
    """Called in a fresh fork; whatever it changes dies with it."""
    samples = samples_of(recorder)
    if request.task == "reference":
        return _reference(request, samples, folder)
    if request.task == "reach":
        return Trial(request.number, None, unreached=_unreached(request.lines, samples))
    apply_patches(request.plan.files.values())
    if request.timing:
        return _timed(request, samples)
    before: dict[str, Outcome] = torch.load(folder / _REFERENCE, weights_only=False)
    today: dict[str, Outcome] = torch.load(folder / f"today-{_REFERENCE}", weights_only=False)
    return _Tried(request, samples, before, today).run()


def _reference(request: Request, samples: list[Sample], folder: Path) -> Trial:
    """The program as it is: in eager, twice, and compiled."""
    before: dict[str, Outcome] = {}
    differences: list[Difference] = []
    for sample in samples:
        with _same_state(sample.call.target):
            before[sample.name] = run_call(
                sample.call, sample.call.target.original, sample.call.target
            )
        with _same_state(sample.call.target):
            again = run_call(sample.call, sample.call.target.original, sample.call.target)
        found = compared(before[sample.name], again, exact=True)
        differences += [Difference(sample.name, each, "eager") for each in found.problems]
    torch.save(before, folder / _REFERENCE)
    tried = _Tried(replace(request, varied=False), samples, before, {})
    trial = tried.run()
    if any(
        compared(before[name], after, exact=False).problems
        for name, after in tried.compiled.items()
    ):
        # Compiling makes a difference already, so what it gives for other inputs matters too.
        tried.run_varied()
    torch.save(tried.compiled, folder / f"today-{_REFERENCE}")
    # What differs here already is torch's doing; only what differs from eager to eager counts.
    return replace(trial, differences=tuple(differences[:_MOST_DIFFERENCES]))


class _Tried:
    """One plan, run on samples."""

    def __init__(
        self,
        request: Request,
        samples: list[Sample],
        before: dict[str, Outcome],
        today: dict[str, Outcome],
    ) -> None:
        self._request = request
        self._samples = samples
        self._before = before
        self._today = today
        self._effects: Safety = request.effects
        self.compiled: dict[str, Outcome] = {}
        self._differences: list[Difference] = []
        self._largest = 0.0
        self._zeros = 0
        self._recompiled = 0
        self._functions: dict[int, Callable[..., Any]] = {}
        self._half_time = time.monotonic() + request.seconds / 2

    def _is_late(self) -> bool:
        return time.monotonic() > self._half_time

    def run(self) -> Trial:
        if self._request.task == "trial":
            self._run_in_eager()
        torch._dynamo.reset()
        breaks = 0
        with around(self._request.plan) as log:
            with Watch() as watch:
                self._run_compiled(recorded=True)
            report = watch.report()
            self._repeat()
            facts = list(log.guards) if log is not None else []
            costs = [1e6 * fact.seconds / max(fact.checked, 1) for fact in facts]
            if self._request.varied:
                breaks = self.run_varied()
        tried = [sample for sample in self._samples if sample.name in self.compiled]
        return Trial(
            number=self._request.number,
            report=report,
            differences=tuple(self._differences[:_MOST_DIFFERENCES]),
            largest=self._largest,
            gradients=sum(len(each.gradients) for each in self._before.values()),
            zero_gradients=self._zeros,
            samples=Samples(
                recorded=sum(s.recorded for s in self._samples),
                varied=sum(not s.recorded for s in tried),
                raising=sum(bool(self._before[s.name].raised) for s in tried),
            ),
            recompiled=self._recompiled,
            varied_sites=breaks,
            guards=tuple(map(_guard_cost, facts, costs)),
        )

    def run_varied(self) -> int:
        """Call compiled code with varied inputs; the sites of breaks on the way."""
        with Watch() as watch:
            self._run_compiled(recorded=False)
        return watch.report().summary.sites

    def _run_in_eager(self) -> None:
        for sample in self._samples:
            target = sample.call.target
            with _same_state(target):
                after = run_call(sample.call, target.original, target)
            self._compare(sample, after, "eager", exact=True)

    def _run_compiled(self, *, recorded: bool) -> None:
        for sample in self._samples:
            if sample.recorded is not recorded or (not recorded and self._is_late()):
                continue
            after = self._call(sample)
            self.compiled[sample.name] = after
            if self._request.task == "trial":
                self._compare(sample, after, "compiled", exact=False)

    def _repeat(self) -> None:
        """The second and third call with the same inputs must not compile anything."""
        with Watch() as watch:
            for _ in range(2):
                for sample in self._samples:
                    if sample.recorded:
                        after = self._call(sample)
                        if self._request.task == "trial":
                            self._compare(sample, after, "compiled", exact=False)
        summary = watch.report().summary
        self._recompiled = summary.compiles + summary.recompiles

    def _call(self, sample: Sample) -> Outcome:
        target = sample.call.target
        with _same_state(target):
            return run_call(sample.call, self._function(target), target)

    def _function(self, target: Target) -> Callable[..., Any]:
        if id(target) not in self._functions:
            self._functions[id(target)] = compiled(target, self._request.backend)
        return self._functions[id(target)]

    def _compare(self, sample: Sample, after: Outcome, mode: Any, *, exact: bool) -> None:
        before = self._before[sample.name]
        # In eager nothing may be dropped: a fix changes only what is compiled.
        effects = self._effects if mode == "compiled" else "exact"
        # With the eager backend no gradient may appear: there it would be the fix that made it.
        traced = not exact and self._request.backend != "eager"
        found = compared(before, after, exact=exact, effects=effects, allow_zeros=traced)
        self._zeros = max(self._zeros, found.zeros)
        if found.problems and not exact and sample.name in self._today:
            # Where compiling already changes the result, today's result is right as well.
            instead = compared(self._today[sample.name], after, exact=False, effects=effects)
            found = found if instead.problems else instead
        self._largest = max(self._largest, found.largest)
        self._note(sample.name, found.problems, mode)

    def _note(self, sample: str, problems: list[str], mode: Any) -> None:
        self._differences += [Difference(sample, problem, mode) for problem in problems]


def compiled(target: Target, backend: str) -> Callable[..., Any]:
    """As the program compiles it, but never with fullgraph=True: breaks are what we look for."""
    wanted = {name: value for name, value in target.options.items() if name != "fullgraph"}
    if "inductor" in (backend, wanted.get("backend", "inductor")):
        from torch._inductor import config

        # Its own random numbers would differ from eager's; its own processes outlive a fork.
        config.fallback_random = True
        config.compile_threads = 1
    if backend:
        wanted = {name: value for name, value in wanted.items() if name == "dynamic"}
        wanted["backend"] = backend
    function: Callable[..., Any] = torch.compile(target.original, **wanted)
    return function


def _timed(request: Request, samples: list[Sample]) -> Trial:
    """The best of some rounds, each of all recorded calls one after another."""
    torch._dynamo.reset()
    calls = [sample.call for sample in samples if sample.recorded]
    functions = {id(call.target): compiled(call.target, request.backend) for call in calls}
    best, steady = float("inf"), 0.0
    end = time.monotonic() + _LONGEST_TIMING
    with around(request.plan):
        for done in count(1):
            spent = sum(_timed_call(call, functions[id(call.target)]) for call in calls)
            # The first rounds compile.
            steady += spent if done > _STEADY_ROUNDS // 2 else 0.0
            best = min(best, spent)
            if done >= _STEADY_ROUNDS and (steady > _TIMING or time.monotonic() > end):
                break
    return Trial(request.number, None, seconds=best)


def _timed_call(call: Call, function: Callable[..., Any]) -> float:
    args, kwargs = cloned((call.args, call.kwargs))
    with _same_state(call.target), call.modes.again():
        started = time.perf_counter()
        function(*args, **kwargs)
        return time.perf_counter() - started


def _unreached(
    lines: dict[str, tuple[int, ...]], samples: list[Sample]
) -> dict[str, tuple[int, ...]]:
    """Which lines the program, as it is and in eager, does not get to."""
    left = {file: set(numbers) for file, numbers in lines.items()}

    def trace(frame: FrameType, _: str, __: Any) -> Any:
        waiting = left.get(frame.f_code.co_filename)
        if waiting is None:
            return None
        waiting.discard(frame.f_lineno)
        return trace

    for sample in samples:
        with _same_state(sample.call.target):
            sys.settrace(trace)
            try:
                run_call(sample.call, sample.call.target.original, sample.call.target)
            finally:
                sys.settrace(None)
    return {file: tuple(sorted(numbers)) for file, numbers in left.items() if numbers}


@contextmanager
def _same_state(target: Target) -> Iterator[None]:
    """Puts everything back that a module keeps, after the block."""
    module = target.module
    if module is None:
        yield
        return
    tensors = [*module.buffers(), *module.parameters()]
    values = [tensor.detach().clone() for tensor in tensors]
    tables = [table for part in module.modules() for table in (vars(part), part._buffers)]
    entries = [dict(table) for table in tables]
    try:
        yield
    finally:
        for table, before in zip(tables, entries, strict=True):
            _put_back(table, before)
        with torch.no_grad():
            for tensor, value in zip(tensors, values, strict=True):
                if not torch.equal(tensor, value):
                    tensor.copy_(value)


def _put_back(table: dict[str, Any], before: dict[str, Any]) -> None:
    """Only what differs: a dict that is written to fails guards on its version."""
    for name in [name for name in table if name not in before]:
        del table[name]
    for name, value in before.items():
        if table.get(name, table) is not value:
            table[name] = value


def _guard_cost(fact: GuardFact, microseconds: float) -> GuardCost:
    """Of a guard for the program's own calls; how often it failed is with varied inputs too."""
    return GuardCost(
        file=fact.file,
        line=fact.line,
        input=fact.input,
        kind=fact.kind,
        value=fact.shown,
        checked=fact.checked,
        microseconds=round(microseconds, 1),
        failed=fact.failed,
    )

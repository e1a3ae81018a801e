"""The trial that runs probes: what the original program and a plan do for them.

The original program runs every probe in eager mode, then the fixed one does, and compiled code runs
those for which compiling can matter. `judge_probes.py` compares the outcomes in another process.
This one compares them only to know which calls it has to repeat.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import torch

from fullgraph.fix.model import ProbesRun, TrialRequest, TrialResult
from fullgraph.fix.record.recorder import CallRecorder, RecordedCall
from fullgraph.fix.runtime.activate import plan_active
from fullgraph.fix.runtime.hot_patch import patch_functions
from fullgraph.fix.runtime.signature import signature_of
from fullgraph.fix.trials.compiled import SharedTraces, compile_target, own_backend
from fullgraph.fix.trials.confined_run import ConfinedError, ConfinedRun
from fullgraph.fix.trials.coverage import unreached_lines
from fullgraph.fix.trials.helper_calls import helper_probes
from fullgraph.fix.trials.outcome import run_call
from fullgraph.fix.trials.plan_reach import without_redundant
from fullgraph.fix.trials.probe_files import ProbeNote, ProbesFile, outcomes_of_backend
from fullgraph.fix.trials.probes import Probe, pairs_of, probes_of
from fullgraph.fix.trials.probes._probe import applied
from fullgraph.fix.trials.runner import Part, outcome_file
from fullgraph.fix.trials.samples import samples_of
from fullgraph.fix.trials.side_observer import Side
from fullgraph.fix.trials.sides import SideCoverage, cover_sides, probes_from
from fullgraph.outcomes.compare import compare_outcomes, metadata_problems
from fullgraph.outcomes.files import Outcomes, load_outcomes, save_outcomes
from fullgraph.outcomes.observe import CallOutcome
from fullgraph.outcomes.text_form import as_plain, in_text

# At least so many calls are tried for each side of a rewritten test that no other call runs. They
# run in eager mode, so a program of any size can afford them.
_LEAST_SEARCHED = 120
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
    request: TrialRequest,
    recorder: CallRecorder,
    probes: list[Probe],
    helpers: Sequence[Probe] = (),
) -> SideCoverage:
    """Find calls for both sides of the tests that a request names.

    Of the probes of helpers, it is only noted which sides they run.
    """
    samples = samples_of(recorder)
    recorded = probes_from([(each.name, each.call) for each in samples])
    compiled = {each.name for each in _compiled_of(probes, request)}
    return cover_sides(
        tuple(request.all_fixes.files.values()),
        recorded,
        probes,
        helpers=helpers,
        compiled=compiled,
        most_calls=max(request.most_probes, _LEAST_SEARCHED),
    )


def _compiled_of(probes: Sequence[Probe], request: TrialRequest) -> list[Probe]:
    """Return the probes that run compiled.

    Those with other values share what was compiled; others need a compile each. Those that change
    the names of the program come last, because each of them recompiles.
    """
    wanted = [each for each in probes if each.compiled]
    values = [each for each in wanted if not each.is_metadata]
    values.sort(key=lambda each: bool(each.names))
    metadata = [each for each in wanted if each.is_metadata and request.compiles_metadata]
    return [*values[: request.most_compiled], *metadata[: request.most_compiled]]


def _of_function(function: str, probe: Probe) -> Probe:
    base = f"{function}: {probe.base}" if probe.base else ""
    combines = tuple(f"{function}: {each}" for each in probe.combines)
    return replace(probe, name=f"{function}: {probe.name}", base=base, combines=combines)


def run_probes(request: TrialRequest, recorder: CallRecorder, part: Part) -> TrialResult:
    """Run the probes of a request with the original program and with its plan.

    What they did is written to the files of the part.
    """
    samples = samples_of(recorder)
    probes = probes_to_run(request, recorder)
    if request.most_compiled and request.compiles_metadata:
        probes = without_redundant(probes, request.all_fixes, samples)
    most = request.most_probes // 4
    helpers = helper_probes(request.plan.files.values(), first_calls(recorder), most)
    # Which sides are searched for depends on all probes, also if some of them run.
    sides = side_coverage(request, recorder, probes, helpers)
    wanted = [
        each
        for each in (*sides.added, *probes, *pairs_to_run(request, recorder), *helpers)
        if not request.probes or each.name in request.probes
    ]
    unreached = sides.unreached
    if request.given:
        # The other process has not the calls that were searched for.
        text, compiled = given_probes(part)
        made = [*probes, *pairs_to_run(request, recorder)]
        _require_all(made, _compiled_of(made, request), text, compiled)
        wanted = [each for each in wanted if each.name in text]
        unreached = tuple(sides.not_run_by(text))
    ran = _Probing(request, wanted, sides).run(part)
    return TrialResult(
        request.number,
        None,
        probes=ran,
        signatures=_signatures(recorder),
        unreached_sides=unreached,
        unreached=unreached_lines(request.lines, samples, [*probes, *sides.added]),
    )


def keep_probe_outcomes(request: TrialRequest, recorder: CallRecorder, part: Part) -> TrialResult:
    """Run probes with the program as it is; nothing is compared."""
    probes = [*probes_to_run(request, recorder), *pairs_to_run(request, recorder)]
    text = {each.name: in_text(run_probe(each)) for each in probes}
    save_outcomes(text, outcome_file(part, "fixed-text"))
    by_backend = run_compiled(_compiled_of(probes, request))
    for backend, outcomes in by_backend.items():
        save_outcomes(outcomes, outcomes_of_backend(part, "fixed", backend))
    return TrialResult(request.number, None, probes=ProbesRun(len(probes)))


def given_probes(part: Part) -> tuple[Outcomes, _ByBackend]:
    """Return the outcomes of another process."""
    text = load_outcomes(outcome_file(part, "fixed-text"))
    files = {each: outcomes_of_backend(part, "fixed", each) for each in _BACKENDS}
    return text, {backend: load_outcomes(file) for backend, file in files.items()}


def _signatures(recorder: CallRecorder) -> tuple[str, ...]:
    found = []
    for call in recorder.calls:
        with call.context.restored():
            found.append(repr(signature_of(call.args, call.kwargs, call.target.original)))
    return tuple(dict.fromkeys(found))


# So many probes of values run with the program's own backend, if it is another one.
_MOST_WITH_OWN_BACKEND = 8
# The outcomes of compiled probes, by the name of the backend.
_ByBackend = dict[str, Outcomes]


class _Probing:
    def __init__(self, request: TrialRequest, probes: list[Probe], sides: SideCoverage) -> None:
        self._request = request
        self._probes = probes
        self._sides = sides

    def run(self, part: Part) -> ProbesRun:
        given = given_probes(part) if self._request.given else None
        compiled = self._compiled_probes() if given is None else self._in(given[1])
        if not self._request.plan.files:
            # Settings and value guards change nothing in eager mode.
            self._probes = compiled
        names = {each.name for each in compiled}
        original: Outcomes = {}
        # Small: only those that are compared with compiled code keep their tensors.
        original_text: Outcomes = {}
        for probe in self._probes:
            outcome = run_probe(probe)
            original_text[probe.name] = in_text(outcome)
            if probe.name in names:
                original[probe.name] = outcome
        self._probes = [
            each
            for each in self._probes
            if not (each.only_accepted and original_text[each.name].raised)
        ]
        if given is not None:
            fixed_text, fixed = given
        elif self._request.confinement is not None:
            fixed_text, fixed = fixed_probes_confined(self._request, self._probes, compiled)
        else:
            fixed_text, fixed = fixed_probes(self._request, self._probes, compiled)
        alone = self._alone(original, fixed)
        repeated = self._to_repeat(original_text, fixed_text, alone)
        again = {each.name: in_text(run_probe(each)) for each in repeated}
        save_outcomes(original, outcome_file(part, "original"))
        for backend, outcomes in fixed.items():
            save_outcomes(outcomes, outcomes_of_backend(part, "fixed", backend))
            save_outcomes(alone.get(backend, {}), outcomes_of_backend(part, "alone", backend))
        ProbesFile(
            notes=tuple(map(self._note, self._probes)),
            recorded_sides=tuple(sorted(self._sides.recorded)),
            excluding=tuple(self._sides.excluding()),
            original={name: as_plain(each) for name, each in original_text.items()},
            fixed={name: as_plain(each) for name, each in fixed_text.items()},
            again={name: as_plain(each) for name, each in again.items()},
            backends=tuple(fixed),
        ).write(part)
        ran = {backend: len(outcomes) for backend, outcomes in fixed.items()}
        return ProbesRun(len(self._probes), max(ran.values(), default=0), ran)

    def _note(self, probe: Probe) -> ProbeNote:
        return ProbeNote(
            name=probe.name,
            assumption=probe.assumption,
            base=probe.base,
            is_metadata=probe.is_metadata,
            combines=probe.combines,
            helper=probe.helper,
            sides=tuple(sorted(self._sides.sides.get(probe.name, ()))),
        )

    def _compiled_probes(self) -> list[Probe]:
        """Return the probes that run compiled: all that are for sides, and some of the others."""
        added = {each.name for each in self._sides.added}
        for_sides = [each for each in self._probes if each.compiled and each.name in added]
        others = [each for each in self._probes if each.name not in added]
        chosen = [*for_sides, *_compiled_of(others, self._request)]
        names = {each.name for each in chosen}
        return chosen + [each for each in self._with_gradients() if each.name not in names]

    def _with_gradients(self) -> Iterator[Probe]:
        """Yield a probe with gradients for each side, to see gradients of what only one side uses.

        Compiled code may give zeros for the other side. In eager mode there is no difference.
        """
        seen: set[Side] = set()
        for probe in self._probes if self._request.most_compiled else ():
            sides = self._sides.sides.get(probe.name, set())
            if probe.base and not probe.helper and sides - seen:
                seen |= sides
                yield probe

    def _in(self, by_backend: _ByBackend) -> list[Probe]:
        """Return the probes that another process has run compiled."""
        names = {name for outcomes in by_backend.values() for name in outcomes}
        return [each for each in self._probes if each.name in names]

    def _alone(self, original: Outcomes, fixed: _ByBackend) -> _ByBackend:
        """Return what compiling does without the plan, for probes that differ."""
        found: _ByBackend = {}
        for backend, outcomes in fixed.items():
            differing = [
                each
                for each in self._probes
                if each.name in outcomes
                and each.name in original
                and self._differs(original[each.name], outcomes[each.name])
            ]
            by_itself = [_run_alone(each, backend) for each in differing]
            found[backend] = {name: each for one in by_itself for name, each in one.items()}
        return found

    def _differs(self, before: CallOutcome, after: CallOutcome) -> bool:
        return bool(
            compare_outcomes(
                before, after, exact=False, effects=self._request.safety, allow_zeros=True
            ).problems
        )

    def _to_repeat(self, original: Outcomes, fixed: Outcomes, alone: _ByBackend) -> list[Probe]:
        """Return the probes that differ: the original program may differ each time, too."""
        compiled = {name for outcomes in alone.values() for name in outcomes}
        return [
            each
            for each in self._probes
            if each.name in compiled
            or (each.name in fixed and _differ(original[each.name], fixed[each.name]))
        ]


def _run_alone(probe: Probe, backend: str) -> Outcomes:
    if backend in _BACKENDS:
        return run_compiled([probe], (backend,))[backend]
    return run_with_own_backend([probe])


def _own_backends(request: TrialRequest, probes: list[Probe]) -> list[str]:
    """Return the backends of the program that probes of values run with, besides our own."""
    if not request.compiles_metadata:
        return []
    values = (own_backend(each.call.target) for each in probes if not each.is_metadata)
    return [each for each in dict.fromkeys(values) if each not in _BACKENDS]


def _run_with_all_backends(request: TrialRequest, probes: list[Probe]) -> _ByBackend:
    found = run_compiled(probes, most_recompiles=request.most_recompiles)
    values = [each for each in probes if not each.is_metadata]
    for own in _own_backends(request, probes):
        mine = [each for each in values if own_backend(each.call.target) == own]
        found[own] = run_with_own_backend(mine[:_MOST_WITH_OWN_BACKEND])
    return found


def fixed_probes(
    request: TrialRequest, probes: list[Probe], compiled: list[Probe]
) -> tuple[Outcomes, _ByBackend]:
    """Run probes with the plan of a request: in eager mode, as text, and some of them compiled."""
    text: Outcomes = {}
    restore = patch_functions(request.plan.files.values())
    try:
        if request.plan.files:
            text = {each.name: in_text(run_probe(each)) for each in probes}
        with plan_active(request.plan):
            return text, _run_with_all_backends(request, compiled)
    finally:
        restore()


def fixed_probes_confined(
    request: TrialRequest, probes: list[Probe], compiled: list[Probe]
) -> tuple[Outcomes, _ByBackend]:
    """Do the same in a confined process: nothing that the plan does reaches this one."""

    def work(scratch: Path) -> None:
        text, by_backend = fixed_probes(request, probes, compiled)
        save_outcomes(text, scratch / "text.pt")
        for backend, outcomes in by_backend.items():
            save_outcomes(outcomes, scratch / f"{backend}.pt")

    assert request.confinement is not None
    with ConfinedRun(request.confinement) as run:
        run.finish(work)
        backends = (*_BACKENDS, *_own_backends(request, compiled))
        found = {backend: run.outcomes(f"{backend}.pt") for backend in backends}
        text = run.outcomes("text.pt")
    # Those that recompile too often are left out on purpose.
    _require_all(probes, compiled if request.compiles_metadata else (), text, found)
    return text, found


def _require_all(
    probes: Sequence[Probe], compiled: Sequence[Probe], text: Outcomes, found: _ByBackend
) -> None:
    """Raise a ConfinedError if another process has left out some probes."""
    first = found[_BACKENDS[0]]
    missing = [each.name for each in probes if each.name not in text]
    missing += [each.name for each in compiled if each.name not in first]
    if missing:
        raise ConfinedError(f"{len(missing)} probes have left no outcome, such as: {missing[0]}")


def _differ(before: CallOutcome, after: CallOutcome) -> bool:
    problems = compare_outcomes(before, after, exact=True, same_error="own").problems
    return bool(problems or metadata_problems(before.metadata, after.metadata))


def run_probe(probe: Probe) -> CallOutcome:
    """Run a probe in eager mode."""
    return _run(probe, lambda: probe.call.target.original)


# Each of them runs each probe of values; those of metadata run with the first.
_BACKENDS = ("aot_eager", "eager")


def run_compiled(
    probes: list[Probe], backends: Sequence[str] = _BACKENDS, *, most_recompiles: int = 1000
) -> _ByBackend:
    """Run probes with compiled code; those that differ only in values share what was compiled.

    Probes of values that would have to be compiled too often are left out.
    """
    found: _ByBackend = {backend: {} for backend in backends}
    torch._dynamo.reset()
    functions: dict[int, Callable[..., Any]] = {}
    shared = SharedTraces(backends)
    most_graphs = 0
    for probe in probes:
        if probe.is_metadata or (most_graphs and shared.graphs > most_graphs):
            continue
        target = probe.call.target
        if id(target) not in functions:
            functions[id(target)] = compile_target(target, backends[0], shared)
        for backend in backends:
            shared.active = backend
            function = partial(functions.__getitem__, id(target))
            found[backend][probe.name] = _run(probe, function)
        most_graphs = most_graphs or (1 + most_recompiles) * shared.graphs
    for probe in probes:
        if probe.is_metadata:
            torch._dynamo.reset()
            function = partial(compile_target, probe.call.target, backends[0])
            found[backends[0]][probe.name] = _run(probe, function)
    return found


def run_with_own_backend(probes: list[Probe]) -> Outcomes:
    """Run probes compiled as the program compiles them."""
    torch._dynamo.reset()
    functions: dict[int, Callable[..., Any]] = {}
    found: Outcomes = {}
    for probe in probes:
        target = probe.call.target
        if id(target) not in functions:
            functions[id(target)] = compile_target(target, "")
        found[probe.name] = _run(probe, partial(functions.__getitem__, id(target)))
    return found


def _run(probe: Probe, function: _Compiler) -> CallOutcome:
    with applied(probe):
        return run_call(probe.call, function(), probe.call.target, probe.computed, probe.around)

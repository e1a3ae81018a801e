"""What the process of a trial does with changes that somebody else wrote.

It runs the original program only. Code with the changes runs in confined children, one for eager
and one for compiled calls, and their outcomes are files of plain values. So whatever that code
replaces in its process, it has no part in what is compared, nor in how.
"""

from __future__ import annotations

from pathlib import Path

from msgspec import json

from fullgraph.fix.model import TrialRequest, TrialResult
from fullgraph.fix.record.recorder import CallRecorder
from fullgraph.fix.runtime.hot_patch import patch_functions
from fullgraph.fix.trials.confined_run import ConfinedError, ConfinedRun
from fullgraph.fix.trials.execute import CompiledCalls, Isolate, execute, run_eager
from fullgraph.fix.trials.exercise import exercised
from fullgraph.fix.trials.judge import eager_problems
from fullgraph.fix.trials.probing import run_probes
from fullgraph.fix.trials.runner import Part, outcome_file
from fullgraph.fix.trials.samples import Sample, samples_of
from fullgraph.outcomes.files import save_outcomes


def execute_confined(
    request: TrialRequest, recorder: CallRecorder, part: Part, isolate: Isolate
) -> TrialResult:
    """Execute a request; code of its plan runs in confined children of this process."""
    try:
        match request.task:
            case "trial":
                return _run_trial(request, samples_of(recorder, varies=part.varies), part)
            case "probe":
                return run_probes(request, recorder, part)
            case "exercise":
                return exercised(request, recorder, part)
    except ConfinedError as error:
        return TrialResult(request.number, None, error=str(error))
    return execute(request, recorder, part, isolate)


def _run_trial(request: TrialRequest, samples: list[Sample], part: Part) -> TrialResult:
    assert request.confinement is not None

    def eager(scratch: Path) -> None:
        patch_functions(request.plan.files.values())
        save_outcomes(run_eager(samples), scratch / "eager.pt")

    def compiled(scratch: Path) -> None:
        patch_functions(request.plan.files.values())
        execution = CompiledCalls(request, samples)
        result = execution.run()
        save_outcomes(execution.outcomes, scratch / "compiled.pt")
        if request.also:
            save_outcomes(execution.also_outcomes, scratch / "also.pt")
        (scratch / "result.json").write_bytes(json.encode(result))

    with ConfinedRun(request.confinement) as run:
        run.finish(eager)
        run.take("eager.pt", outcome_file(part, "eager"))
    if eager_problems(part, effects=request.eager_safety):
        # The trial is lost; the judge says why.
        return TrialResult(request.number, None)
    with ConfinedRun(request.confinement) as run:
        run.finish(compiled)
        for name in ("compiled", "also") if request.also else ("compiled",):
            run.take(f"{name}.pt", outcome_file(part, name))
        return json.decode(run.read("result.json"), type=TrialResult)

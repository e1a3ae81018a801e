"""Runs the program, verifies a change on its calls, and says what it found.

The verification is that of our own fixes: recorded and varied calls with every backend, probes, and
both sides of rewritten tests. A change need not remove a break. Its code runs in confined processes
only, and the outcomes are compared in a process that never loads it.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from msgspec.structs import replace

from fullgraph.fix.apply.project import Project
from fullgraph.fix.confinement import Confinement, missing
from fullgraph.fix.confinement.environment import without_keys
from fullgraph.fix.confinement.readable import readable
from fullgraph.fix.model import (
    AcceptedFix,
    Candidate,
    FixError,
    FixPlan,
    ProgramRecorded,
    SearchResult,
    TrialRequest,
    TrialResult,
    combined_plan,
)
from fullgraph.fix.report.model import BeforeAfter
from fullgraph.fix.search.assumptions import probe_request
from fullgraph.fix.search.search import require_deterministic
from fullgraph.fix.search.verify import TRIAL_SECONDS, Verifier
from fullgraph.fix.source.edits import edited_lines
from fullgraph.fix.trials.client import ProgramTrialRunner
from fullgraph.fix.trials.edited_program import EditedProgram, EditedProgramRunner
from fullgraph.fix.trials.runner import TrialRunner, is_repeated, run_trial
from fullgraph.fix.verify.change import (
    ChangeError,
    FileChange,
    lines_with_code,
    new_lines,
    runs_before_calls,
)
from fullgraph.fix.verify.escapes import escapes
from fullgraph.fix.verify.findings import CHANGED_CODE, judged
from fullgraph.fix.verify.refusals import is_ignored, refusals
from fullgraph.fix.verify.report import (
    VERIFY_FORMAT,
    CallDifference,
    Evidence,
    Refused,
    VerifyReport,
)
from fullgraph.fix.verify.whole import (
    WholeProgramRunner,
    confinement_of_program,
    different_calls,
)
from fullgraph.model.fix_kinds import Safety
from fullgraph.model.owners import this_process
from fullgraph.model.report import Report, Summary
from fullgraph.outcomes import OUTPUT_DIFFERS

Progress = Callable[[str], None]
ANNOUNCEMENT = (
    "the change concerns code outside of functions, so the whole changed program runs as well, "
    "with its side effects, as far as it is confined"
)
# A trial with changes may take so many times the CPU time of the original one.
_TIMES_AS_LONG = 20
_LEAST_CPU_SECONDS = 60
# Of the time on the clock, which depends on how busy the machine is.
_TIMES_CPU = 10
# Less than this part of the operations in graphs: code has moved out of them.
_LEAST_OPS = 0.5


@dataclass(frozen=True)
class Options:
    """How a change is verified."""

    backends: tuple[str, ...] = ()
    # CPU time of each process that runs changed code; None for a multiple of what it took before.
    seconds: int | None = None
    confined: bool = True
    # Whether the changed program may be run as a whole.
    reruns: bool = True
    # Files and folders that changed code may read as well.
    reads: tuple[str, ...] = ()
    # Variables of the environment that the program gets although they look like keys.
    variables: tuple[str, ...] = ()


class _ChangedCodeError(Exception):
    """The changed program does not get to its end."""


@contextmanager
def closing_runner(runner: ProgramTrialRunner) -> Iterator[None]:
    """End a runner after the block."""
    try:
        yield
    finally:
        runner.__exit__(None, None, None)


def main_file_of(target: Sequence[str]) -> str:
    """Return the file that will run as `__main__`; empty if it is not found. Imports nothing."""
    if target[0] != "-m":
        return target[0]
    parts = target[1].split(".")
    for folder in ("", *sys.path):
        path = Path(folder, *parts)
        for file in (path.with_suffix(".py"), path / "__main__.py"):
            if file.is_file():
                return str(file)
    return ""


def project_of(main_file: str) -> str:
    """Return the folder that names the project of a program."""
    return min(Project(main_file).folders, key=len)


def check_confinement() -> None:
    """Raise a FixError if this system cannot confine changed code."""
    lacks = missing()
    if lacks:
        raise FixError(
            f"this system cannot confine the changed code, because it lacks {lacks}; run it with "
            "--unconfined if you trust the change"
        )


def refused_report(
    changes: Iterable[FileChange], main_file: str, *, reruns: bool
) -> VerifyReport | None:
    """Return the report of a change of which nothing may run; None if it may."""
    changes = tuple(changes)
    wanted = [each for each in changes if not is_ignored(each)]
    found = refusals(wanted, main_file)
    if not found and not reruns:
        found = tuple(
            Refused(
                this_process().display_path(each.path),
                each.line,
                "it changes code outside of functions, and --no-rerun is given",
            )
            for each in wanted
            if runs_before_calls(each)
        )
    if not found:
        if not wanted:
            raise ChangeError("the change concerns documentation only; there is nothing to verify")
        return None
    return VerifyReport(VERIFY_FORMAT, "refused", None, refused=found, ignored=_ignored(changes))


def concerns_more_than_calls(changes: Iterable[FileChange]) -> bool:
    """Return whether the whole changed program has to run."""
    return any(runs_before_calls(each) for each in changes if not is_ignored(each))


def _ignored(changes: Iterable[FileChange]) -> tuple[str, ...]:
    return tuple(this_process().display_path(each.path) for each in changes if is_ignored(each))


def verify(
    target: Sequence[str],
    changes: Sequence[FileChange],
    options: Options,
    *,
    progress: Progress,
) -> VerifyReport:
    """Run the program and verify a change that is not refused."""
    started = time.monotonic()
    progress("running the program")
    environment = without_keys(os.environ)
    environment |= {name: os.environ[name] for name in options.variables if name in os.environ}
    original = EditedProgram({each.path: each.before or "" for each in changes})
    with EditedProgramRunner(
        target, original, deadline=float("inf"), environment=environment
    ) as runner:
        _require_calls(runner.recorded)
        if options.confined and not runner.recorded.can_fork:
            raise FixError(
                "this program cannot be forked, so changed code cannot be confined in it; run it "
                "with --unconfined if you trust the change"
            )
        report = _Verification(runner, target, environment, changes, options, progress).run()
    return replace(report, seconds=round(time.monotonic() - started, 1))


def _require_calls(recorded: ProgramRecorded) -> None:
    from fullgraph.fix.pipeline import require_calls

    require_calls(recorded)


class ChangedCodeRunner:
    """Runs trials; those with changes run as these options say."""

    def __init__(self, runner: TrialRunner, confinement: Confinement | None) -> None:
        self._runner = runner
        self._confinement = confinement
        # How much of the output the changed program may lack in eager mode.
        self.eager_safety: Safety = "exact"
        # Trials in which the changed program differs in eager mode, by what was allowed.
        self._lost: dict[Safety, int] = {}
        self._results: dict[int, TrialResult] = {}

    def submit(self, request: TrialRequest) -> int:
        """Start a trial; after one that differs in eager mode, another backend changes nothing."""
        if request.plan.files:
            if request.task == "trial" and self.eager_safety in self._lost:
                return self._lost[self.eager_safety]
            confinement = self._confinement
            if confinement is not None and request.backend not in ("eager", "aot_eager"):
                # Others start compilers.
                confinement = replace(confinement, processes=True)
            request = replace(request, confinement=confinement, eager_safety=self.eager_safety)
        return self._runner.submit(request)

    def result(self, number: int) -> TrialResult:
        """Wait for a trial and return its result."""
        if number not in self._results:
            result = self._results[number] = self._runner.result(number)
            if any(each.mode == "eager" for each in result.differences):
                self._lost[self.eager_safety] = number
        return self._results[number]


class _Verification:
    def __init__(
        self,
        runner: ProgramTrialRunner,
        target: Sequence[str],
        environment: dict[str, str],
        changes: Sequence[FileChange],
        options: Options,
        progress: Progress,
    ) -> None:
        self._program = runner
        self._target = target
        self._environment = environment
        self._changes = [each for each in changes if not is_ignored(each)]
        self._ignored = _ignored(changes)
        self._options = options
        self._progress = progress
        self._output_changes: tuple[str, ...] = ()

    def run(self) -> VerifyReport:
        self._progress("running the original program's calls")
        self._baseline = run_trial(self._program, TrialRequest("reference", seconds=TRIAL_SECONDS))
        require_deterministic(self._baseline)
        confinement = self._confinement()
        if not concerns_more_than_calls(self._changes):
            return self._verified(self._program, confinement)
        return self._verified_whole(confinement)

    def _verified_whole(self, confinement: Confinement | None) -> VerifyReport:
        """Run the whole changed program, too: the change concerns what comes before the calls."""
        self._progress("running the changed program")
        texts = {each.path: each.after or "" for each in self._changes}
        within = confinement and confinement_of_program(confinement)
        try:
            with self._run_again(texts, within) as changed:
                different = different_calls(self._program, changed)
                if different:
                    own = self._own_failure(within) if changed.recorded.error else ""
                    report = self._different("the program", different)
                    return (
                        report
                        if not own
                        else replace(report, verdict="unverified", evidence=Evidence(), problem=own)
                    )
                runner = WholeProgramRunner(self._program, changed, self._changes)
                return replace(self._verified(runner, None), reran=True)
        except EOFError:
            return self._different("the program", "the changed code ends its process")
        except _ChangedCodeError as error:
            return self._different("the program", f"{CHANGED_CODE} does not end: {error}")

    @contextmanager
    def _run_again(
        self, texts: dict[str, str], confinement: Confinement | None
    ) -> Iterator[EditedProgramRunner]:
        """Run the program from some texts, and serve its trials in the block."""
        runner = EditedProgramRunner(
            self._target,
            EditedProgram(
                texts,
                confinement,
                self._new_lines() if texts else {},
                self._program.recorded.positions,
            ),
            deadline=float("inf"),
            environment=self._environment,
        )
        try:
            runner.__enter__()
        except FixError as error:
            raise _ChangedCodeError(str(error)) from None
        with closing_runner(runner):
            yield runner

    def _own_failure(self, confinement: Confinement | None) -> str:
        """Return why even the original program fails where it is confined; empty if it does not."""
        if confinement is None:
            return ""
        with suppress(EOFError), self._run_again({}, confinement) as runner:
            error = runner.recorded.error
            return error and (
                f"the program itself fails where it is confined: {error}; see --allow-read and "
                "--unconfined"
            )
        return ""

    def _different(self, call: str, what: str) -> VerifyReport:
        found = Evidence(
            calls=self._baseline.samples.recorded, differences=(CallDifference(call, what),)
        )
        return VerifyReport(
            VERIFY_FORMAT,
            "different",
            None,
            evidence=found,
            changes=escapes(self._changes),
            ignored=self._ignored,
            confinement=self._confined_by,
            reran=True,
        )

    def _verified(self, runner: TrialRunner, confinement: Confinement | None) -> VerifyReport:
        self._runner = ChangedCodeRunner(runner, confinement)
        self._progress("running the changed program's calls")
        results = self._results()
        final = results["eager"]
        report = self._report(results)
        differences = tuple(_differences(results))
        if differences:
            evidence = replace(report.evidence, differences=differences)
            return replace(report, verdict="different", evidence=evidence)
        problem = next(_problems(results), "")
        if problem:
            return replace(report, problem=problem)
        self._progress("probing what the change assumes")
        result = self._search_result(final, results)
        probed = run_trial(self._runner, probe_request(result.fixes, result))
        exercised = run_trial(self._runner, self._exercise_request(result))
        return judged(report, results, probed, exercised)

    @property
    def _confined_by(self) -> str:
        return "Landlock, seccomp and limits" if self._options.confined else ""

    # What runs.

    def _confinement(self) -> Confinement | None:
        if not self._options.confined:
            return None
        seconds = self._options.seconds or max(
            _LEAST_CPU_SECONDS, int(_TIMES_AS_LONG * self._baseline.cpu_seconds)
        )
        main_file = self._program.recorded.main_file
        found = readable(Project(main_file).folders, self._options.reads)
        return Confinement(
            found.reads, found.lists, cpu_seconds=seconds, seconds=_TIMES_CPU * seconds
        )

    def _fixes(self, safety: Safety = "exact") -> tuple[AcceptedFix, ...]:
        """Return the change as fixes, one for each file."""
        return tuple(_as_fix(each, safety) for each in self._changes)

    def _results(self) -> dict[str, TrialResult]:
        """Return the results by backend; output may be lost or moved if nothing else differs."""
        for safety in _SAFETIES:
            self._runner.eager_safety = safety
            verifier = Verifier(self._runner, self._baseline, self._options.backends)
            results, _ = verifier.verify(self._fixes(safety))
            differences = [d for each in results.values() for d in each.differences]
            about_output = [d for d in differences if d.what.startswith(OUTPUT_DIFFERS)]
            if safety == "exact":
                exact = results, about_output
            if not differences or len(about_output) < len(differences):
                break
        if differences or safety == "exact":
            return exact[0] if differences else results
        self._safety = safety
        self._output_changes = tuple(
            dict.fromkeys(_output_change(safety, d.what) for d in exact[1])
        )
        return results

    _safety: Safety = "exact"

    def _search_result(self, final: TrialResult, results: dict[str, TrialResult]) -> SearchResult:
        others = {name: result for name, result in results.items() if name != "eager"}
        return SearchResult(
            baseline=self._baseline,
            final=final,
            other_backends=others,
            fixes=self._fixes(self._safety),
            remaining=(),
            out_of_time=False,
        )

    def _plan(self) -> FixPlan:
        return combined_plan(each.candidate for each in self._fixes())

    def _exercise_request(self, result: SearchResult) -> TrialRequest:
        probes = probe_request(result.fixes, result)
        old = {
            each.path: _with_code(each.before, edited_lines(each.before or "", each.edits.edits))
            for each in self._changes
        }
        return replace(probes, task="exercise", lines=_not_empty(old), new_lines=self._new_lines())

    def _new_lines(self) -> dict[str, tuple[int, ...]]:
        return _not_empty(
            {
                each.path: _with_code(each.after, new_lines(each.before or "", each.after or ""))
                for each in self._changes
            }
        )

    # What it means.

    def _report(self, results: dict[str, TrialResult]) -> VerifyReport:
        final, before = results["eager"], self._baseline.report
        after = final.report
        samples = final.samples
        return VerifyReport(
            VERIFY_FORMAT,
            "unverified",
            None,
            evidence=Evidence(
                calls=samples.recorded,
                varied=samples.varied,
                backends=tuple(results),
                largest_difference=max(each.largest for each in results.values()),
            ),
            changes=(
                *escapes(self._changes),
                *self._output_changes,
                *_costs(self._baseline, results),
            ),
            ignored=self._ignored,
            breaks=_numbers(before, after, lambda each: each.sites),
            graphs=_numbers(before, after, lambda each: each.graphs),
            confinement=self._confined_by,
        )


# In this order they are tried; each allows more than the one before.
_SAFETIES: tuple[Safety, ...] = ("exact", "reordered", "dropped")
assert set(_SAFETIES) <= set(get_args(Safety))


def _as_fix(change: FileChange, safety: Safety) -> AcceptedFix:
    candidate = Candidate(
        file=change.edits, title="the change", safety=safety, fixer="patch", kind="rewrite"
    )
    # It is for no break in particular.
    return AcceptedFix(candidate, None, break_key="", line=change.line)  # type: ignore[arg-type]


def _with_code(text: str | None, lines: Iterable[int]) -> tuple[int, ...]:
    code = lines_with_code(text or "")
    return tuple(line for line in lines if line in code)


def _not_empty(lines: dict[str, tuple[int, ...]]) -> dict[str, tuple[int, ...]]:
    return {path: numbers for path, numbers in lines.items() if numbers}


def _differences(results: dict[str, TrialResult]) -> Iterator[CallDifference]:
    """Yield where the changed program does something else, each only once."""
    seen: set[CallDifference] = set()
    for backend, result in results.items():
        if result.error.startswith(CHANGED_CODE):
            found = [CallDifference(f"the recorded calls with {backend}", result.error)]
        else:
            found = [
                CallDifference(f"{each.sample}, {_mode(each.mode, backend)}", each.what)
                for each in result.differences
                if not is_repeated(each.sample) or len(result.differences) == 1
            ]
        for each in found:
            if each not in seen:
                seen.add(each)
                yield each


def _mode(mode: str, backend: str) -> str:
    return "eager mode" if mode == "eager" else f"compiled with {backend}"


def _problems(results: dict[str, TrialResult]) -> Iterator[str]:
    for backend, result in results.items():
        if result.error:
            yield f"the calls with {backend} failed: {result.error}"
    ran, wanted = results["aot_eager"].samples.varied, results["eager"].samples.varied
    if ran < wanted:
        yield f"only {ran} of {wanted} varied calls ran with aot_eager"


def _output_change(safety: Safety, what: str) -> str:
    detail = what.removeprefix(f"{OUTPUT_DIFFERS}: ")
    verb = "other order of" if safety == "reordered" else "lines are no longer"
    return f"{verb} printed or logged{' lines' if safety == 'reordered' else ''}: {detail}"


def _costs(baseline: TrialResult, results: dict[str, TrialResult]) -> Iterator[str]:
    """Yield in what the changed program is worse for the compiler."""
    recompiled = max(each.recompiled for each in results.values())
    if recompiled > baseline.recompiled:
        yield f"repeated calls recompile {recompiled} times"
    before, after = baseline.report, results["eager"].report
    if before is not None and after is not None:
        now, then = after.summary.ops, before.summary.ops
        if now < _LEAST_OPS * then:
            yield f"{now} instead of {then} operations run in graphs"


def _numbers(
    before: Report | None, after: Report | None, number: Callable[[Summary], int]
) -> BeforeAfter | None:
    if before is None or after is None:
        return None
    return BeforeAfter(number(before.summary), number(after.summary))

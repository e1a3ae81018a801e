"""Runs the programs of fixers' cases, and says what a fixer makes of them."""

from __future__ import annotations

import importlib.util
import itertools
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

import torch

import fullgraph
from fullgraph.fix.fixers import Fixer
from fullgraph.fix.fixers._cases import Case
from fullgraph.fix.model import (
    Candidate,
    Refusal,
    SearchResult,
    TrialRequest,
    TrialResult,
    with_number,
)
from fullgraph.fix.record.recorder import CallContext, CallRecorder, CompiledTarget, RecordedCall
from fullgraph.fix.report.build import build_report
from fullgraph.fix.runtime.hot_patch import index_functions
from fullgraph.fix.search.budget import Budget
from fullgraph.fix.search.grading import FixGrade, Grading
from fullgraph.fix.search.search import FixSearch
from fullgraph.fix.source.context import BreakContext, SourceFile
from fullgraph.fix.source.text import read_source
from fullgraph.fix.trials.fork import ForkTrialRunner, execute_here, preload_compiler
from fullgraph.fix.trials.judge import write_verdict
from fullgraph.fix.trials.runner import Part, read_result

_SECONDS = 600.0
_NOT_RECOGNIZED = "pattern not recognized"
# Each program is a module of its own, with loggers of its own.
_numbers = itertools.count()


def load(source: str, folder: Path) -> Any:
    """Import a program as a module of its own, from a file of its own."""
    file = folder / "program.py"
    file.write_text(source)
    spec = importlib.util.spec_from_file_location(f"program_{next(_numbers)}", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # Dynamo looks up the module of a decorated function by its name.
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def calls_of(module: Any) -> list[tuple[Any, ...]]:
    """Return the arguments that a program says it is called with."""
    torch.manual_seed(0)
    return [tuple(each) for each in (module.inputs(), *getattr(module, "more", tuple)())]


def recorded(module: Any) -> CallRecorder:
    """Return the calls of a program, as if they had been recorded."""
    calls = calls_of(module)
    target = CompiledTarget("f", module.f, {})
    recorder = CallRecorder(targets=[target])
    with torch.set_grad_enabled(getattr(module, "GRADIENTS", True)):
        for arguments in calls:
            recorder.calls.append(RecordedCall(target, arguments, {}, CallContext.current()))
    return recorder


@cache
def index_what_is_loaded() -> None:
    """Index the functions of this process once; a runner then adds those of its program."""
    preload_compiler(gradients=True)
    index_functions()


class LocalTrialRunner:
    """Runs trials in this process, for programs that change nothing but their own state.

    It does what forks do, without copying the memory of this process for each trial.
    """

    def __init__(self, recorder: CallRecorder, folder: Path) -> None:
        self._recorder = recorder
        self._folder = folder
        self._count = 0

    def submit(self, request: TrialRequest) -> int:
        """Run a trial."""
        self._count += 1
        numbered, part = with_number(request, self._count), self._part(self._count)
        execute_here(numbered, self._recorder, part)
        write_verdict(part, numbered)
        return self._count

    def _part(self, number: int) -> Part:
        return Part(str(self._folder), number)

    def result(self, number: int) -> TrialResult:
        """Return the result of a trial."""
        return read_result([self._part(number)])


@contextmanager
def runner_for(source: str, folder: Path) -> Iterator[ForkTrialRunner]:
    """Run trials of a program in forks of this process."""
    index_what_is_loaded()
    with ForkTrialRunner(recorded(load(source, folder))) as runner:
        yield runner


def search(source: str, folder: Path, *fixers: Fixer) -> SearchResult:
    """Return what these fixers make of a program, verification included."""
    index_what_is_loaded()
    recorder = recorded(load(source, folder))
    index_functions()
    try:
        return FixSearch(
            LocalTrialRunner(recorder, folder),
            budget=Budget(_SECONDS),
            progress=lambda _: None,
            fixers=fixers or None,
        ).run()
    finally:
        torch._dynamo.reset()


def proposals(source: str, folder: Path, fixer: Fixer) -> list[Candidate | Refusal]:
    """Return what a fixer proposes for the breaks of a program: one compile, no trial."""
    module = load(source, folder)
    found: list[Candidate | Refusal] = []
    with torch.set_grad_enabled(getattr(module, "GRADIENTS", True)), fullgraph.watch() as watch:
        torch._dynamo.reset()
        compiled = torch.compile(module.f, backend="eager")
        for arguments in calls_of(module):
            # Some programs raise by themselves.
            with suppress(Exception):
                compiled(*arguments)
    torch._dynamo.reset()
    for cause in watch.report().causes:
        found += fixer.propose(BreakContext(cause, _open_file))
    return found


def _open_file(path: str) -> SourceFile | None:
    text = read_source(path)
    return None if text is None else SourceFile(path, text)


def refusal_of(case: Case, folder: Path, fixer: Fixer) -> tuple[str, str]:
    """Return by what a program is refused, and the reason.

    The fixer alone is asked first, unless the case says that it proposes a candidate. Then only a
    trial can tell.
    """
    if case.refused_by != "verification":
        found = proposals(case.program, folder, fixer)
        if not any(isinstance(each, Candidate) for each in found):
            return "fixer", _reason([each for each in found if isinstance(each, Refusal)])
    result = search(case.program, folder, fixer)
    assert not result.fixes, fix_diff(result)
    rejected = [each.reason for remaining in result.remaining for each in remaining.rejected]
    if rejected:
        return "verification", rejected[-1]
    return "fixer", _reason([each for remaining in result.remaining for each in remaining.refusals])


def _reason(refusals: Sequence[Refusal]) -> str:
    first = next(iter(refusals), None)
    return _NOT_RECOGNIZED if first is None else f"{first.reason} (line {first.line})"


def fix_diff(result: SearchResult) -> str:
    """Return the accepted fixes as the diff of a case."""
    grading = Grading(tuple(FixGrade("safe") for _ in result.fixes))
    report = build_report(result, grading=grading, seconds=0.0)
    settings = [line for fix in report.fixes for line in fix.settings]
    guards = ["+ value guards"] if result.plan.guards else []
    lines = [f"+ {line}" for line in dict.fromkeys(settings)] + guards
    lines += [line for line in report.diff.splitlines() if not line.startswith(("---", "+++"))]
    return "".join(f"{line.rstrip()}\n" for line in lines)

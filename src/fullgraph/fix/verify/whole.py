"""Trials of a whole changed program, which runs from its full text in processes of its own.

What a change does outside of functions has happened when the calls are recorded. So the changed
program is run as well, confined, and makes the same calls. What they did is copied, as files of
plain values, to where the judge of the original program compares it.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from msgspec.structs import replace

from fullgraph.fix.confinement import Confinement
from fullgraph.fix.model import NO_PLAN, FixError, FixPlan, TrialRequest, TrialResult
from fullgraph.fix.source.edits import FileEdits
from fullgraph.fix.trials.client import ProgramTrialRunner
from fullgraph.fix.trials.confined_run import ConfinedError, open_regular
from fullgraph.fix.trials.runner import run_trial
from fullgraph.fix.verify.change import FileChange, line_edits

_MOST_BYTES = 1 << 30
_TASKS = {"trial": "outcomes", "probe": "probe_outcomes"}
_FILE = re.compile(r"(\d+)-(\d+)-([\w-]+\.(?:pt|json))")
# What the judge writes, and what only the trial of the original program may write.
_NOT_TAKEN = ("verdict.json", "probes.json")


class WholeProgramRunner:
    """Runs trials of the original program, and of the changed one where a request has a plan."""

    def __init__(
        self,
        original: ProgramTrialRunner,
        changed: ProgramTrialRunner,
        changes: list[FileChange],
    ) -> None:
        self._original = original
        self._changed = changed
        self._back = {
            each.path: FileEdits(each.path, line_edits(each.after or "", each.before or ""))
            for each in changes
        }
        self._results: dict[int, TrialResult] = {}
        self._next = -1

    def submit(self, request: TrialRequest) -> int:
        """Run a trial; the changed program's part of it is waited for."""
        if not request.plan.files:
            return self._original.submit(request)
        request = replace(request, confinement=None)
        if request.task == "exercise":
            return self._done(self._exercised(request))
        given = replace(
            request,
            task=_TASKS[request.task],
            plan=NO_PLAN,
            parts=self._parts(ways_only=request.task == "probe"),
        )
        number = self._changed.next_number
        try:
            made = run_trial(self._changed, given)
        except FixError as error:
            made = TrialResult(number, None, error=f"the changed code ends its process: {error}")
        if made.error:
            return self._done(made)
        try:
            self._take(number, self._original.next_number, request.task)
        except ConfinedError as error:
            return self._done(TrialResult(number, None, error=str(error)))
        kind = "all" if request.task == "trial" else "changed"
        return self._original.submit(replace(request, given=kind))

    def _done(self, result: TrialResult) -> int:
        self._next -= 1
        self._results[self._next] = result
        return self._next

    def result(self, number: int) -> TrialResult:
        """Return the result of a trial."""
        if number in self._results:
            return self._results[number]
        return self._original.result(number)

    def _exercised(self, request: TrialRequest) -> TrialResult:
        """Return the lines of the original that do not run, and those of the changed program."""
        before = run_trial(self._original, replace(request, plan=NO_PLAN, new_lines={}))
        back = replace(
            request,
            plan=FixPlan(self._back),
            lines={},
            tested=(),
            is_whole=True,
            parts=self._parts(ways_only=True),
        )
        after = run_trial(self._changed, back)
        return replace(after, unreached=before.unreached, error=after.error or before.error)

    def _parts(self, *, ways_only: bool) -> tuple[tuple[int, bool], ...]:
        """Return the parts that trials of the original program have; inputs vary once per way."""
        return tuple(each for each in self._original.parts if each[1] or not ways_only)

    def _take(self, number: int, new_number: int, task: str) -> None:
        """Copy what the changed program's calls did to the folder of the original program."""
        for name, call, kind in self._files(number):
            if task == "probe" and kind == "result.json":
                continue
            target = self._original.folder / f"{new_number}-{call}-{kind}"
            made = self._changed.folder / name
            with open_regular(made, _MOST_BYTES) as source, target.open("wb") as copy:
                shutil.copyfileobj(source, copy)

    def _files(self, number: int) -> Iterator[tuple[str, int, str]]:
        for file in Path(self._changed.folder).iterdir():
            match = _FILE.fullmatch(file.name)
            if match and int(match[1]) == number and match[3] not in _NOT_TAKEN:
                yield file.name, int(match[2]), match[3]


def confinement_of_program(confinement: Confinement) -> Confinement:
    """Return what a whole program may use that only its calls may not: processes of its own."""
    return replace(confinement, processes=True)


def different_calls(original: ProgramTrialRunner, changed: ProgramTrialRunner) -> str:
    """Return how the calls that two programs make differ; empty if they are the same."""
    if changed.recorded.error:
        where = f" ({changed.recorded.details})" if changed.recorded.details else ""
        return f"the changed program fails: {changed.recorded.error}{where}"
    before, after = original.recorded.calls, changed.recorded.calls
    if not after:
        return "the changed program compiles nothing, or never calls what it compiles"
    if before == after:
        return ""
    if len(before) != len(after):
        return f"{len(after)} calls of compiled functions instead of {len(before)}"
    index = next(
        n for n, (one, other) in enumerate(zip(before, after, strict=True)) if one != other
    )
    return f"call {index + 1} is of {after[index]} instead of {before[index]}"

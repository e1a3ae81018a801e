"""Which lines and which sides of tests of a change no call and no probe runs, in eager mode.

Of the original program, these are the lines that the change removes; of the changed one, the
lines and the tests that it adds. The changed program is confined where the request says so.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from types import FrameType
from typing import Any, TypeVar

from msgspec import Struct, json
from msgspec.structs import replace

from fullgraph.fix.model import TrialRequest, TrialResult, UnreachedSide
from fullgraph.fix.record.recorder import CallRecorder
from fullgraph.fix.source.edits import Edit, FileEdits, apply_edits, inverse_edits
from fullgraph.fix.source.rewritten_tests import (
    Deciding,
    RewrittenTest,
    observing_edits,
    rewritten_tests,
)
from fullgraph.fix.source.text import read_source
from fullgraph.fix.trials.confined_run import ConfinedRun
from fullgraph.fix.trials.probes import Probe
from fullgraph.fix.trials.probing import pairs_to_run, probes_to_run, run_probe, side_coverage
from fullgraph.fix.trials.runner import Part
from fullgraph.fix.trials.samples import call_restored, samples_of
from fullgraph.fix.trials.side_observer import Side, SideObserver
from fullgraph.fix.trials.sides import probes_from

_Lines = dict[str, tuple[int, ...]]
# Lines that ran while the program was recorded, by the real path of their file.
ran_before: dict[str, set[int]] = {}
_Result = TypeVar("_Result")


class Unreached(Struct, frozen=True):
    """What no call has run."""

    lines: _Lines
    sides: tuple[UnreachedSide, ...] = ()


def exercised(request: TrialRequest, recorder: CallRecorder, part: Part) -> TrialResult:
    """Return the lines and the sides of tests that nothing runs."""
    probes = probes_to_run(request, recorder)
    probes = [*side_coverage(request, recorder, probes).added, *probes]
    probes += pairs_to_run(request, recorder)
    calls = probes_from([(each.name, each.call) for each in samples_of(recorder)])
    before = _traced(request.lines, calls, probes)
    result = TrialResult(request.number, None, unreached=before)
    if request.confinement is None:
        after = _of_changed(request, calls, probes)
    else:

        def work(scratch: Path) -> None:
            found = _of_changed(request, calls, probes)
            (scratch / "unreached.json").write_bytes(json.encode(found))

        with ConfinedRun(request.confinement) as run:
            run.finish(work)
            after = json.decode(run.read("unreached.json"), type=Unreached)
    return replace(result, unreached_new=after.lines, unreached_sides=after.sides)


def watched(record: Callable[..., _Result], lines: _Lines) -> Callable[..., _Result]:
    """Return a function that does the same, and notes in `ran_before` which lines run meanwhile."""
    if not lines:
        return record
    wanted = {os.path.realpath(file): set(numbers) for file, numbers in lines.items()}

    def trace(frame: FrameType, _: str, __: Any) -> Any:
        file = _real_path(frame.f_code.co_filename)
        if frame.f_lineno in wanted.get(file, ()):
            ran_before.setdefault(file, set()).add(frame.f_lineno)
        return trace if file in wanted else None

    def recorded(*args: Any) -> _Result:
        # A fork of the process serves trials, which trace for themselves.
        os.register_at_fork(after_in_child=partial(sys.settrace, None))
        with _tracing(trace):
            return record(*args)

    return recorded


def _of_changed(request: TrialRequest, calls: list[Probe], probes: list[Probe]) -> Unreached:
    """Run everything with the plan and observers of the tests that it adds."""
    observer = SideObserver()
    tests, files = _observed(request)
    with observer.observing(files):
        lines = _traced(request.new_lines, calls, probes, observes=bool(tests))
    lines = {
        file: left
        for file, numbers in lines.items()
        if (
            left := tuple(n for n in numbers if n not in ran_before.get(os.path.realpath(file), ()))
        )
    }
    return Unreached(lines, tuple(_unreached_sides(tests, observer.sides)))


def _observed(
    request: TrialRequest,
) -> tuple[list[tuple[str, RewrittenTest]], list[FileEdits]]:
    """Return the tests that edits add, and edits that observe them as well."""
    tests: list[tuple[str, RewrittenTest]] = []
    deciding: list[Deciding] = []
    observed = []
    for path, file in request.plan.files.items():
        loaded = read_source(path) or ""
        after = loaded if request.is_whole else apply_edits(loaded, file.edits)
        back = file.edits if request.is_whole else inverse_edits(loaded, file.edits)
        added = rewritten_tests(after, back)
        edits, found = observing_edits(after, added, after=deciding)
        deciding += found
        tests += [(path, test) for test in added]
        text = apply_edits(after, edits)
        observed.append(FileEdits(path, (Edit(0, len(loaded), text),), file.module_additions))
    return tests, observed


def _unreached_sides(
    tests: list[tuple[str, RewrittenTest]], ran: set[Side]
) -> Iterator[UnreachedSide]:
    for number, (path, test) in enumerate(tests):
        sides = Side(number, True), Side(number, False)
        # An index that is never a mask has no sides.
        if test.is_mask and ran.isdisjoint(sides):
            continue
        for side in sides:
            if side not in ran:
                yield UnreachedSide(path, test.line, test.shown, side.is_true, test.is_mask)


def _traced(
    lines: _Lines, calls: list[Probe], probes: list[Probe], *, observes: bool = False
) -> _Lines:
    """Run calls and probes in eager mode; return those of some lines that did not run.

    Without lines they run only if something else observes them.
    """
    if not lines and not observes:
        return {}
    waiting = {os.path.realpath(file): set(numbers) for file, numbers in lines.items()}

    def trace(frame: FrameType, _: str, __: Any) -> Any:
        here = waiting.get(_real_path(frame.f_code.co_filename))
        if here is None:
            return None
        here.discard(frame.f_lineno)
        return trace

    for probe in calls:
        with call_restored(probe.call), _tracing(trace):
            run_probe(probe)
    for probe in probes:
        with _tracing(trace):
            run_probe(probe)
    return {
        file: left for file in lines if (left := tuple(sorted(waiting[os.path.realpath(file)])))
    }


@cache
def _real_path(file: str) -> str:
    return os.path.realpath(file)


@contextmanager
def _tracing(trace: Any) -> Iterator[None]:
    sys.settrace(trace)
    try:
        yield
    finally:
        sys.settrace(None)

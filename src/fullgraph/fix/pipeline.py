"""All stages for a program: record → search → verify → grade → report, and then measure.

The report is complete when the fixes are verified and graded. How fast they are is measured
afterwards, so the fixes are shown without waiting for it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from fullgraph.fix.apply.writable import choose_writable
from fullgraph.fix.cost import FixPricer
from fullgraph.fix.fixers import Fixer, all_fixers
from fullgraph.fix.model import FixError, FixPlan, ProgramRecorded, SearchResult
from fullgraph.fix.report.build import build_report, with_speed
from fullgraph.fix.report.model import CallTimes, FixReport
from fullgraph.fix.search.budget import Budget
from fullgraph.fix.search.grading import FixGrade, Grading, grade_fixes, usable_plan
from fullgraph.fix.search.search import FixSearch
from fullgraph.fix.speed import measure_speed
from fullgraph.fix.trials.client import ProgramTrialRunner

Progress = Callable[[str], None]
Use = Literal["write", "in memory"]
# Pricing each fix ends after so many seconds, unless a larger limit was given for the search.
_PRICE_SECONDS = 120.0


class FixOutcome(Struct, frozen=True):
    """A report, and the plan that `--apply` and `run --fix` use."""

    report: FixReport
    # The fixes that may be used, verified together; all of them unless `use` was given.
    plan: FixPlan
    # The file that settings go into; empty if it is not known.
    main_file: str
    # Why no fix may be used although some are of an allowed grade; empty otherwise.
    why_none: str = ""
    unsafe: bool = False
    # What is known of the program's own run; None in tests of what is written.
    recorded: ProgramRecorded | None = None
    # For `--apply`: why each fix of the report is not written; empty for one that may be.
    left_out: tuple[str, ...] = ()
    # Patches for the code of libraries, by their names.
    patches: dict[str, str] = {}


class FixSession:
    """`with FixSession(target) as session:` runs the program; then fixes are found and measured."""

    def __init__(
        self,
        target: Sequence[str],
        *,
        progress: Progress,
        seconds: float | None = None,
        only_settings: bool = False,
        backends: Sequence[str] = (),
    ) -> None:
        self._target = target
        self._progress = progress
        self._seconds = seconds
        self._fixers = _fixers(only_settings)
        self._backends = backends
        # Set one after another.
        self._search: FixSearch | None = None
        self._result: SearchResult | None = None

    def __enter__(self) -> FixSession:
        self._started = time.monotonic()
        self._progress("running the program")
        # A program that does not end by itself ends at the limit that the user gave.
        limit = float("inf") if self._seconds is None else self._seconds
        self._runner = ProgramTrialRunner(self._target, deadline=self._started + limit)
        self._runner.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._runner.__exit__(kind, error, traceback)

    def find(
        self, use: Use | None = None, *, unsafe: bool = False, reruns: bool = True
    ) -> FixOutcome:
        """Find, verify and grade fixes.

        With `use`, the plan of the outcome has only the fixes that may be used like that; with
        `unsafe`, all that are verified. Without `reruns`, fixes that have to be verified by running
        the program again are not written.
        """
        require_calls(self._runner.recorded)
        self._search = search = FixSearch(
            self._runner,
            budget=Budget(self._seconds, program_seconds=self._runner.recorded.cpu_seconds),
            progress=self._progress,
            fixers=self._fixers,
            backends=self._backends,
        )
        self._result = result = search.run()
        self._progress("probing what the fixes assume")
        grading = grade_fixes(search.runner, result)
        plan, why_none = result.plan, ""
        left_out: tuple[str, ...] = ()
        patches: dict[str, str] = {}
        recorded = self._runner.recorded
        if use == "write":
            plan, why_none, left_out, patches = choose_writable(
                search.runner, result, grading, recorded.main_file, unsafe=unsafe, reruns=reruns
            )
        elif use:
            plan, why_none = usable_plan(
                search.runner, result, grading, unsafe=unsafe, in_memory=True
            )
        report = self._report(result, grading)
        return FixOutcome(
            report, plan, recorded.main_file, why_none, unsafe, recorded, left_out, patches
        )

    def verified_so_far(self) -> FixReport | None:
        """Return the fixes that were verified before an interrupt; None if there are none."""
        result = self._result or (self._search.verified if self._search is not None else None)
        if result is None or not result.fixes:
            return None
        return self._report(result, _not_graded(result))

    def _report(self, result: SearchResult, grading: Grading) -> FixReport:
        seconds = time.monotonic() - self._started
        not_recorded = self._runner.recorded.not_kept
        return build_report(result, grading=grading, seconds=seconds, not_recorded=not_recorded)

    def measure(self, outcome: FixOutcome) -> FixOutcome:
        """Measure how much faster a call is with the plan; without fixes there is nothing to do."""
        if not outcome.report.fixes or not outcome.report.summary.verified:
            return outcome
        self._progress("measuring the speedup")
        try:
            speed: CallTimes | str = measure_speed(self._runner, outcome.plan)
        except FixError:
            # The fixes are verified and shown, whatever becomes of it.
            speed = "the process of the program has ended"
        return replace(outcome, report=with_speed(outcome.report, speed))

    def price(self, outcome: FixOutcome) -> FixOutcome:
        """Measure what each fix is worth, by leaving it out."""
        assert self._result is not None
        self._progress("measuring what each fix is worth")
        deadline = time.monotonic() + max(_PRICE_SECONDS, self._seconds or 0)
        cost = FixPricer(self._runner, self._result, deadline).price(self._target)
        return replace(outcome, report=replace(outcome.report, cost=cost))


def fix_in_memory(target: Sequence[str], *, progress: Progress, unsafe: bool) -> FixOutcome:
    """Find and verify the fixes that `run --fix` may use for a program."""
    with FixSession(target, progress=progress) as session:
        return session.find("in memory", unsafe=unsafe)


def _not_graded(result: SearchResult) -> Grading:
    """Return what is known of verified fixes before their probes have run."""
    grade = FixGrade("assumes", ("what the probes, which did not run, would find",))
    return Grading(tuple(grade for _ in result.fixes))


def _fixers(only_settings: bool) -> list[Fixer]:
    kinds = ("setting", "mitigate")
    return [each for each in all_fixers() if not only_settings or each.kind in kinds]


def require_calls(recorded: ProgramRecorded) -> None:
    """Raise a FixError if the program has failed, or if it calls nothing that it compiles."""
    if recorded.error:
        where = f" ({recorded.details})" if recorded.details else ""
        raise FixError(
            f"the program fails on its own: {recorded.error}{where}; make it run to its end, "
            "without input, first"
        )
    if not recorded.functions:
        raise FixError(
            "the program compiles nothing; call torch.compile for a function or a module, and call "
            "the result"
        )
    if not recorded.calls:
        functions = ", ".join(recorded.functions[:3])
        raise FixError(
            f"the program never calls the functions that it compiles ({functions}); call them with "
            "typical inputs"
        )

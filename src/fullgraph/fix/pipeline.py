"""`fix_program`: record → search → verify → measure → report."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Literal

from msgspec import Struct

from fullgraph.fix.apply.writable import choose_writable
from fullgraph.fix.cost import FixPricer
from fullgraph.fix.fixers import Fixer, all_fixers
from fullgraph.fix.model import (
    NO_PLAN,
    FixError,
    FixPlan,
    ProgramRecorded,
    SearchResult,
    TrialRequest,
)
from fullgraph.fix.report.build import build_report
from fullgraph.fix.report.model import CallTimes, FixReport
from fullgraph.fix.search.grading import grade_fixes, usable_plan
from fullgraph.fix.search.search import FixSearch
from fullgraph.fix.trials.client import ProgramTrialRunner
from fullgraph.fix.trials.runner import run_trial

Progress = Callable[[str], None]
# The part of the time that is kept for verification, timing and the report.
_RESERVE = 0.3
_RESERVE_FOR_PRICES = 0.6


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


def fix_program(
    target: Sequence[str],
    *,
    seconds: float,
    progress: Progress,
    only_settings: bool = False,
    backends: Sequence[str] = (),
    measure: bool = True,
    price: bool = False,
    use: Literal["write", "in memory"] | None = None,
    unsafe: bool = False,
    reruns: bool = True,
) -> FixOutcome:
    """Find and verify fixes for `SCRIPT [ARG]...` or `-m MODULE [ARG]...`; measure the speedup.

    With `price`, also measure what each fix is worth. With `use`, the plan of the outcome has only
    the fixes that may be used like that; with `unsafe`, all that are verified. Without `reruns`,
    fixes that have to be verified by running the program again are not written.
    """
    started = time.monotonic()
    progress("running the program")
    with ProgramTrialRunner(target, deadline=started + seconds) as runner:
        _require_calls(runner)
        reserve = _RESERVE_FOR_PRICES if price else _RESERVE
        search = FixSearch(
            runner,
            deadline=started + seconds * (1 - reserve),
            progress=progress,
            fixers=_fixers(only_settings),
            backends=backends,
        )
        result = search.run()
        progress("probing what the fixes assume")
        grading = grade_fixes(runner, result)
        plan, why_none = result.plan, ""
        left_out: tuple[str, ...] = ()
        patches: dict[str, str] = {}
        main_file = runner.recorded.main_file
        if use == "write":
            plan, why_none, left_out, patches = choose_writable(
                runner, result, grading, main_file, unsafe=unsafe, reruns=reruns
            )
        elif use:
            plan, why_none = usable_plan(runner, result, grading, unsafe=unsafe, in_memory=True)
        times = _call_times(runner, result, progress, started + seconds) if measure else None
        cost = None
        if price:
            progress("measuring what each fix is worth")
            cost = FixPricer(runner, result, started + seconds).price(target)
    report = build_report(
        result, grading=grading, times=times, cost=cost, seconds=time.monotonic() - started
    )
    return FixOutcome(report, plan, main_file, why_none, unsafe, runner.recorded, left_out, patches)


def _fixers(only_settings: bool) -> list[Fixer]:
    kinds = ("setting", "mitigate")
    return [each for each in all_fixers() if not only_settings or each.kind in kinds]


def _require_calls(runner: ProgramTrialRunner) -> None:
    recorded = runner.recorded
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


def _call_times(
    runner: ProgramTrialRunner, result: SearchResult, progress: Progress, deadline: float
) -> CallTimes | None:
    """Return the times of a call; None without fixes or without time to measure."""
    if not result.fixes or time.monotonic() > deadline:
        return None
    progress("measuring the speedup")
    before = _seconds_per_call(runner, NO_PLAN)
    after = _seconds_per_call(runner, result.plan)
    return CallTimes(before, after) if before and after else None


def _seconds_per_call(runner: ProgramTrialRunner, plan: FixPlan) -> float | None:
    """Return the mean of the recorded calls, which are measured together."""
    seconds = run_trial(runner, TrialRequest("timing", plan, backend="")).seconds
    return None if seconds is None else seconds / len(runner.recorded.calls)

"""What each fix is worth: calls are timed with all fixes, without one, and with one alone.

The fixes whose breaks cost most come first, as long as there is time. The others keep the price
that `fullgraph run --cost` estimates, and so do breaks without a fix.
"""

from __future__ import annotations

import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from fullgraph.analysis import analyze
from fullgraph.capture.process import capture_environment, python_command
from fullgraph.errors import FullgraphError
from fullgraph.fix.model import (
    NO_PLAN,
    AcceptedFix,
    FixPlan,
    SearchResult,
    TrialRequest,
    VariantTimes,
    combined_plan,
)
from fullgraph.fix.report.model import FixCost, FixPrice
from fullgraph.fix.search.state import without_fix
from fullgraph.fix.source.program import ProgramSource
from fullgraph.fix.trials.runner import TrialRunner, run_trial
from fullgraph.model.cost import CausePrice, Estimate
from fullgraph.model.report import Report
from fullgraph.model.session import load_all

# Fewer steady rounds, in which nothing was compiled, say nothing.
_FEWEST_ROUNDS = 5
# A difference that may be zero cannot be told if it is uncertain by this part of a call.
_UNCERTAIN_PART = 0.05
_TOO_UNCERTAIN = "the difference is smaller than the noise of the measurement"
_NOT_IN_TIME = "there was no time to measure it; --time gives more"
_NO_FIX = "it has no fix, so it cannot be left out"
_NO_ESTIMATE = ", and fullgraph run --cost could not tell its price"

Prices = dict[tuple[str, str, int], CausePrice]


class FixPricer:
    """Prices the fixes of one search."""

    def __init__(self, runner: TrialRunner, result: SearchResult, deadline: float) -> None:
        self._runner = runner
        self._result = result
        self._deadline = deadline

    def price(self, target: Sequence[str]) -> FixCost:
        """Return the price of every fix, and of every break that remains."""
        estimates = estimate_prices(target, self._deadline)
        estimated = {id(fix): self._estimated(fix, estimates) for fix in self._result.fixes}
        ordered = sorted(self._result.fixes, key=lambda fix: -_seconds(estimated[id(fix)]))
        plans = [NO_PLAN, self._result.plan]
        measured = self._affordable(ordered)
        for fix in measured:
            plans += self._plans_of(fix)
        times = self._time(plans)
        if times is None:
            measured = []
        numbers = {id(fix): 2 + 2 * index for index, fix in enumerate(measured)}
        fixes = tuple(
            _price_of(
                self._result.fixes.index(fix), fix, times, numbers.get(id(fix)), estimated[id(fix)]
            )
            for fix in ordered
        )
        return FixCost(
            original=_steady(times[0]) if times else None,
            fixed=_steady(times[1]) if times else None,
            original_first=times[0].first if times else None,
            fixed_first=times[1].first if times else None,
            prices=(*fixes, *_remaining(self._result, estimates)),
            reason="" if times else _NOT_IN_TIME,
        )

    def _estimated(self, fix: AcceptedFix, estimates: Prices) -> Estimate | None:
        """Return the estimated price of all root causes that a fix removes; None if unknown."""
        report = self._result.baseline.report
        source = ProgramSource(NO_PLAN.files)
        removed = {fix.break_key, *fix.removed}
        keys = [
            (cause.file, cause.type, cause.line)
            for cause in (report.causes if report is not None else ())
            if source.break_key(cause) in removed
        ]
        own = (fix.cause.file, fix.cause.type, fix.line)
        known = [_estimate_of(estimates, key) for key in dict.fromkeys([*keys, own])]
        found = [each for each in known if each is not None]
        if not found:
            return None
        return Estimate(
            sum(each.seconds for each in found),
            sum(each.low for each in found),
            sum(each.high for each in found),
        )

    def _affordable(self, fixes: Sequence[AcceptedFix]) -> list[AcceptedFix]:
        """Return the fixes that there is time for: each takes two variants that are compiled."""
        left = self._deadline - time.monotonic()
        began = time.monotonic()
        times = self._time([NO_PLAN, self._result.plan], seconds=left / 3)
        if times is None:
            return []
        per_variant = max((time.monotonic() - began) / 2, 1.0)
        return list(fixes[: max(0, int((left * 2 / 3) / per_variant) - 2) // 2])

    def _plans_of(self, fix: AcceptedFix) -> list[FixPlan]:
        others = without_fix(self._result.fixes, fix)
        return [combined_plan(each.candidate for each in others), combined_plan([fix.candidate])]

    def _time(
        self, plans: Sequence[FixPlan], seconds: float | None = None
    ) -> tuple[VariantTimes, ...] | None:
        """Return the times of calls under these plans; None if there is no time for it."""
        left = self._deadline - time.monotonic() if seconds is None else seconds
        if left <= 0:
            return None
        request = TrialRequest(
            "variants", self._result.plan, variants=tuple(plans), backend="", seconds=left
        )
        times = run_trial(self._runner, request).variants
        return times if times and _rounds(times[0], times[1]) else None


def estimate_prices(target: Sequence[str], deadline: float) -> Prices:
    """Run the program with `--cost`; return the prices of its root causes by their location."""
    left = deadline - time.monotonic()
    if left <= 0:
        return {}
    with tempfile.TemporaryDirectory(prefix="fullgraph-cost-") as folder:
        try:
            subprocess.run(
                python_command(target),
                env=capture_environment(Path(folder), ["cost"]),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=left / 3,
                check=False,
            )
            report = analyze(load_all((folder,)))
        except (subprocess.TimeoutExpired, FullgraphError):
            return {}
    return _by_location(report)


def _by_location(report: Report) -> Prices:
    if report.cost is None:
        return {}
    prices = {price.site: price for price in report.cost.causes}
    return {
        (cause.file, cause.type, cause.line): prices[cause.key]
        for cause in report.causes
        if cause.key in prices
    }


def _seconds(estimate: Estimate | None) -> float:
    return estimate.seconds if estimate is not None else 0.0


def _estimate_of(estimates: Prices, key: tuple[str, str, int]) -> Estimate | None:
    price = estimates.get(key)
    return price.price if price is not None else None


def _price_of(
    number: int,
    fix: AcceptedFix,
    times: tuple[VariantTimes, ...] | None,
    first_variant: int | None,
    estimated: Estimate | None,
) -> FixPrice:
    location = (fix.cause.file, fix.line, fix.cause.type)
    if times is None or first_variant is None:
        return FixPrice(*location, number, None, None, None, estimated, _NOT_IN_TIME)
    original, fixed = times[0], times[1]
    without, alone = times[first_variant], times[first_variant + 1]
    left_out = _difference(without, fixed)
    reason = "" if _is_certain(left_out, original) else _TOO_UNCERTAIN
    return FixPrice(
        *location,
        number,
        left_out=None if reason else left_out,
        alone=_difference(original, alone),
        first_call=without.first - fixed.first,
        estimated=estimated,
        reason=reason,
    )


def _remaining(result: SearchResult, estimates: Prices) -> Iterator[FixPrice]:
    for each in result.remaining:
        cause = each.cause
        estimated = _estimate_of(estimates, (cause.file, cause.type, each.line))
        reason = _NO_FIX if estimated is not None else _NO_FIX + _NO_ESTIMATE
        yield FixPrice(cause.file, each.line, cause.type, None, None, None, None, estimated, reason)


def _rounds(one: VariantTimes, other: VariantTimes) -> list[tuple[float, float]]:
    """Return the rounds in which neither compiled; none if there are too few."""
    pairs = zip(one.steady, other.steady, strict=False)
    steady = [(a, b) for a, b in pairs if a is not None and b is not None]
    return steady if len(steady) >= _FEWEST_ROUNDS else []


def _difference(slower: VariantTimes, faster: VariantTimes) -> Estimate | None:
    """Return the difference of two variants, round by round; None if there are too few rounds."""
    rounds = _rounds(slower, faster)
    return _quartiles([one - other for one, other in rounds]) if rounds else None


def _steady(times: VariantTimes) -> Estimate:
    return _quartiles([seconds for seconds in times.steady if seconds is not None])


def _quartiles(values: Sequence[float]) -> Estimate:
    low, median, high = statistics.quantiles(values, n=4)
    return Estimate(median, low, high)


def _is_certain(difference: Estimate | None, original: VariantTimes) -> bool:
    """Return whether a difference says something: it is not zero, or it is certainly small."""
    if difference is None:
        return False
    may_be_zero = difference.low <= 0 <= difference.high
    width = difference.high - difference.low
    return not may_be_zero or width < _UNCERTAIN_PART * _steady(original).seconds

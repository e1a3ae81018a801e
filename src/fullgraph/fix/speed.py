"""How much faster a steady call is with the fixes, with the interval of the measurement."""

from __future__ import annotations

import math
import statistics

from fullgraph.fix.model import NO_PLAN, FixPlan, TrialRequest, VariantTimes
from fullgraph.fix.report.model import CallTimes
from fullgraph.fix.trials.runner import TrialRunner, run_trial

# Fewer steady rounds, in which nothing was compiled, say nothing.
_FEWEST_ROUNDS = 5
# Steady calls are repeated for so long; compiling comes before that.
_STEADY_SECONDS = 15.0
_MOST_SECONDS = 1800.0


def measure_speed(runner: TrialRunner, plan: FixPlan) -> CallTimes | str:
    """Time calls without and with a plan, in turn; return why not if that says nothing.

    Both are compiled with the program's own backend, in one process.
    """
    request = TrialRequest(
        "variants",
        plan,
        variants=(NO_PLAN, plan),
        backend="",
        steady_seconds=_STEADY_SECONDS,
        seconds=_MOST_SECONDS,
    )
    result = run_trial(runner, request)
    if result.error or len(result.variants) != len(request.variants):
        return result.error or "no call could be timed"
    return speed_of(*result.variants)


def speed_of(before: VariantTimes, after: VariantTimes) -> CallTimes | str:
    """Return the median of the rounds with its interval; why not if there are too few rounds."""
    rounds = [
        (one, other)
        for one, other in zip(before.steady, after.steady, strict=False)
        if one is not None and other is not None and other > 0
    ]
    if len(rounds) < _FEWEST_ROUNDS:
        return "calls compile again, or take too long to be repeated"
    low, high = _interval_of_median([one / other for one, other in rounds])
    return CallTimes(
        before=statistics.median(one for one, _ in rounds),
        after=statistics.median(other for _, other in rounds),
        ratio=round(statistics.median(one / other for one, other in rounds), 3),
        low=round(low, 3),
        high=round(high, 3),
    )


def _interval_of_median(values: list[float]) -> tuple[float, float]:
    """Return the values between which the median is in 95 of 100 cases, whatever the noise is."""
    ordered = sorted(values)
    # The number of values below the median has a binomial distribution.
    first = max(int(len(ordered) / 2 - 0.98 * math.sqrt(len(ordered))), 0)
    return ordered[first], ordered[-1 - first]

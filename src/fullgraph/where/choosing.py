"""From facts to a recommendation. Imports no torch.

A choice is offered if its outcomes are those of eager mode. The fastest one wins. Choices whose
times cannot be told apart from the fastest are equal, and the one that compiles fastest is chosen.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

from fullgraph.model.cost import Estimate
from fullgraph.where.facts import ChoiceFacts, TargetFacts
from fullgraph.where.report import ChoiceResult, NotTried, Ratio, TargetReport

# Fewer rounds say nothing.
_FEWEST_ROUNDS = 4
# A speedup that may be larger than this is worth another measurement.
_LARGE_SPEEDUP = 1.1
# Two times are equal if their ratio is 1 and its interval is narrower than this.
_NARROW = 0.05
# Times that differ by less are equal, however certain the difference is.
_SMALLEST_DIFFERENCE = 0.02

Rounds = dict[int, float]


def target_report(facts: TargetFacts, interrupted: bool) -> TargetReport:
    """Return the report of one target, with a recommendation."""
    results = tuple(_result(each, facts) for each in facts.choices)
    chosen, advice, reason = _recommend(facts, results, interrupted)
    if missing := len(facts.waiting) + sum("--time" in each.reason for each in facts.not_tried):
        reason += f"; {missing} {'choice was' if missing == 1 else 'choices were'} not measured"
    return TargetReport(
        name=facts.name,
        class_name=facts.class_name,
        is_function=facts.is_function,
        compiled_at=facts.compiled_at,
        calls=facts.calls,
        recorded=facts.recorded,
        raising=facts.raising,
        backward=facts.backward,
        eager=_estimate(facts.eager_rounds),
        choices=results,
        not_tried=(*facts.not_tried, *_interrupted(facts)),
        chosen=chosen,
        advice=advice,
        reason=reason,
        notes=tuple(_notes(facts)),
    )


def _interrupted(facts: TargetFacts) -> list[NotTried]:
    """Return the choices that nothing is known about, because the measurement ended before."""
    measured = {each.choice.name for each in facts.choices}
    return [
        NotTried(name, "the measurement was interrupted")
        for name in facts.waiting
        if name not in measured
    ]


def _result(facts: ChoiceFacts, target: TargetFacts) -> ChoiceResult:
    steady = _estimate(facts.rounds)
    first = facts.first_seconds
    calls = target.recorded - target.raising
    compiling = max(first - calls * steady.seconds, 0.0) if first is not None and steady else None
    return ChoiceResult(
        choice=facts.choice,
        first_seconds=first,
        compile_seconds=compiling,
        steady=steady,
        speedup=_ratio(target.eager_rounds, facts.rounds),
        graphs=facts.graphs,
        breaks=facts.breaks,
        recompiles=facts.recompiles,
        refused=facts.refused,
        skipped_frames=facts.skipped_frames,
        later_compiles=facts.later_compiles,
        problem=facts.problem,
    )


def _estimate(rounds: Rounds) -> Estimate | None:
    if len(rounds) < _FEWEST_ROUNDS:
        return None
    low, median, high = statistics.quantiles(rounds.values(), n=4)
    return Estimate(median, low, high)


def _ratio(slower: Rounds, faster: Rounds) -> Ratio | None:
    """Return how many times as fast one is, round by round; None with too few common rounds."""
    shared = [slower[each] / faster[each] for each in faster if each in slower and faster[each]]
    if len(shared) < _FEWEST_ROUNDS:
        return None
    return Ratio(statistics.median(shared), *_interval(shared))


def _interval(values: Sequence[float]) -> tuple[float, float]:
    """Return the interval that has the median with a probability of 95%, by order statistics."""
    ordered = sorted(values)
    half = 0.98 * math.sqrt(len(ordered))
    low = math.floor(len(ordered) / 2 - half)
    high = math.ceil(len(ordered) / 2 + half)
    return ordered[max(low, 0)], ordered[min(high, len(ordered) - 1)]


def _is_faster(ratio: Ratio | None) -> bool:
    """Return whether a ratio says that something is certainly faster."""
    return ratio is not None and ratio.low > 1 and ratio.value > 1 + _SMALLEST_DIFFERENCE


def is_decided(facts: TargetFacts) -> bool:
    """Return whether further rounds would not change the recommendation.

    That is so if each choice is certainly faster or slower than eager mode and than the fastest
    choice, or certainly as fast.
    """
    offered = [each.rounds for each in facts.choices if not each.problem]
    ratios = {n: _ratio(facts.eager_rounds, rounds) for n, rounds in enumerate(offered)}
    known = {n: ratio for n, ratio in ratios.items() if ratio is not None}
    if len(known) < len(offered):
        return False
    fastest = max(known, key=lambda n: known[n].value, default=0)
    compared = [_ratio(offered[n], offered[fastest]) for n in known if n != fastest]
    return all(map(_is_certain, [*known.values(), *compared]))


def _is_certain(ratio: Ratio | None) -> bool:
    if ratio is None:
        return False
    return not ratio.low <= 1 <= ratio.high or ratio.high - ratio.low < _NARROW


def _recommend(
    facts: TargetFacts, results: Sequence[ChoiceResult], interrupted: bool
) -> tuple[int | None, str, str]:
    """Return the place of the recommended choice, what to do, and why."""
    offered = [n for n, each in enumerate(results) if not each.problem and each.speedup]
    if not offered:
        return (
            None,
            "not tried" if facts.left_out else "cannot be told",
            _why_nothing(facts, results, interrupted),
        )
    faster = [n for n in offered if _is_faster(results[n].speedup)]
    if not faster:
        return None, *_eager_advice(facts, [results[n] for n in offered])
    fastest = max(faster, key=lambda n: _speedup(results[n]))
    rounds = [each.rounds for each in facts.choices]
    equal = [n for n in faster if not _is_faster(_ratio(rounds[n], rounds[fastest]))]
    chosen = min(equal, key=lambda n: (_compiling(results[n]), n))
    advice = f"compile {_described(results[chosen])}"
    if results[chosen].choice.today:
        advice += ", as the program does"
    return chosen, advice, _why(results, chosen, fastest, equal) + _pays_off(facts, results[chosen])


def _why_nothing(facts: TargetFacts, results: Sequence[ChoiceResult], interrupted: bool) -> str:
    if facts.left_out:
        return facts.left_out
    if facts.raised and facts.raising == facts.recorded:
        return f"every recorded call raises {facts.raised}"
    if facts.raised:
        return facts.raised
    if interrupted:
        return "it was interrupted before a choice was measured"
    if results and all(each.problem for each in results):
        return "no choice gives the results of eager mode; the table says why"
    return "nothing could be timed; --time gives more"


def _eager_advice(facts: TargetFacts, offered: Sequence[ChoiceResult]) -> tuple[str, str]:
    """Return what to do, and why, if no choice is certainly faster than eager mode."""
    best = max(offered, key=_speedup)
    ratio = best.speedup
    assert ratio is not None
    if ratio.high > _LARGE_SPEEDUP:
        return "cannot be told", (
            f"the times vary too much: {best.choice.name} is between {ratio.low:.2f}x and "
            f"{ratio.high:.2f}x as fast as eager mode; try again on a quieter machine"
        )
    advice = "do not compile it" if facts.compiled_at else "leave it in eager mode"
    if ratio.high >= 1:
        # The table shows the same number.
        value = "≈ 1x" if ratio.low <= 1 else f"{ratio.value:.2f}x"
        return advice, f"no choice is clearly faster; the best is {best.choice.name}, {value}"
    return advice, f"every choice is slower; the best is {best.choice.name}, {ratio.value:.2f}x"


def _why(results: Sequence[ChoiceResult], chosen: int, fastest: int, equal: Sequence[int]) -> str:
    best = results[chosen]
    parts = [f"{_speedup(best):.2f}x as fast as eager mode"]
    if chosen != fastest:
        other = results[fastest]
        parts.append(
            f"as fast as {other.choice.name} as far as can be told, and it compiles in "
            f"{_seconds(best)} instead of {_seconds(other)}"
        )
    elif len(equal) > 1:
        names = ", ".join(results[n].choice.name for n in equal if n != chosen)
        parts.append(f"not slower than {names} as far as can be told, and it compiles fastest")
    elif len(results) > 1:
        parts.append("faster than all other choices")
    return "; ".join(parts)


def _pays_off(facts: TargetFacts, best: ChoiceResult) -> str:
    """Return after how many calls the time for compiling is gained."""
    speedup, steady = best.speedup, best.steady
    if speedup is None or steady is None or best.compile_seconds is None:
        return ""
    gained = steady.seconds * (speedup.value - 1)
    calls = best.compile_seconds / gained if gained > 0 else 0
    if calls < 1:
        return ""
    made = f" (the program made {facts.calls:,})" if calls > facts.calls else ""
    return f"; compiling pays off after about {_rounded(calls)} calls{made}"


def _rounded(number: float) -> str:
    """Return a number with two digits that count."""
    digits = max(len(str(int(number))) - 2, 0)
    return f"{int(round(number, -digits)):,}"


def _described(result: ChoiceResult) -> str:
    choice = result.choice
    match choice.kind:
        case "whole":
            return f"the whole model, {choice.name}"
        case "blocks":
            return f"each of the {choice.count} blocks {choice.name}"
        case "today":
            return choice.name
    return choice.name


def _speedup(result: ChoiceResult) -> float:
    return result.speedup.value if result.speedup is not None else 0.0


def _compiling(result: ChoiceResult) -> float:
    return result.compile_seconds if result.compile_seconds is not None else float("inf")


def _seconds(result: ChoiceResult) -> str:
    return f"{_compiling(result):.1f} s"


def _notes(facts: TargetFacts) -> list[str]:
    notes = []
    if not facts.compiled_at:
        notes.append("the program compiles nothing of it; its outermost calls were recorded")
    for line in facts.no_effect:
        notes.append(
            f"{line.text} (line {line.line}) has no effect: Dynamo skips torch's own modules that "
            "are compiled in place"
        )
    if facts.backward:
        notes.append("a call includes a backward pass from the sum of its outputs")
    if 0 < facts.raising < facts.recorded:
        notes.append(
            f"{facts.raising} of {facts.recorded} recorded calls raise {facts.raised}; they are "
            "compared, not timed"
        )
    if facts.incomparable:
        notes.append(
            f"results were not compared: in eager mode they differ from run to run "
            f"({facts.incomparable})"
        )
    return notes

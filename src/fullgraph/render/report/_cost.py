"""Phrases about what calls cost: pure functions from the report to strings."""

from __future__ import annotations

from collections.abc import Iterator

from fullgraph.model.cost import CallCost, CausePrice, CostReport
from fullgraph.render._times import duration, interval
from fullgraph.render.report._phrases import count, short_name
from fullgraph.terminal import one_line

_BAR_WIDTH = 20
# A smaller part of a price is not mentioned.
_WORTH_SAYING = 0.01
# The categories of a call, in the order in which they are shown.
_SHARES = (
    ("graphs", "in graphs"),
    ("between", "between graphs"),
    ("guards", "guards and look-up"),
    ("skipped", "skipped frames"),
    ("unexplained", "unexplained"),
)


def describe_price(cost: CostReport, key: str) -> str:
    """Return the price of a root cause, with a bar that shows its share of a call."""
    price = next((each for each in cost.causes if each.site == key), None)
    if price is None or price.price is None:
        why = price.reason if price is not None else "it was not measured"
        return f"cannot be told: {why}"
    share = f"{bar(price.share)} {percent(price.share)}"
    parts = [f"{share}  {interval(price.price)} per call that reaches it"]
    if price.backward is not None and price.backward.seconds >= _WORTH_SAYING * price.price.seconds:
        parts.append(f"{duration(price.backward.seconds)} of it in backward")
    at_least = duration(price.at_least)
    if at_least != duration(price.price.seconds):
        parts.append(f"at least {at_least}")
    text = ", ".join(parts)
    if price.shared:
        text += ", estimated because other code runs between the same graphs"
    return f"{text}; {_counts(price)}"


def _counts(price: CausePrice) -> str:
    parts = []
    if price.operators is None:
        parts.append("eager operators not counted because the program uses the profiler")
    else:
        parts.append(f"{count(round(price.operators), 'eager operator')} per call")
        if round(price.host_copies or 0):
            parts.append(f"{_plural(price.host_copies, 'copy', 'copies')} to the host")
        if round(price.synchronizations or 0):
            parts.append(_plural(price.synchronizations, "synchronization", "synchronizations"))
    parts.append(f"{count(round(price.graphs), 'more graph')}")
    parts.append(f"{price.compile_seconds:.2g} s more compiling")
    return ", ".join(parts)


def _plural(number: float | None, one: str, many: str) -> str:
    rounded = round(number or 0)
    return f"{rounded} {one if rounded == 1 else many}"


def describe_calls(cost: CostReport, top: int | None) -> Iterator[str]:
    """Yield where the time of each function goes, and what fixing everything would save."""
    for call in cost.calls[:top]:
        yield _describe_call(call)
    if top is not None and len(cost.calls) > top:
        yield f"{len(cost.calls) - top} more in the JSON report"
    if cost.at_most is None or cost.at_least is None or cost.explained is None:
        return
    if cost.causes:
        least, most = percent(cost.at_least), percent(cost.at_most)
        share = most if least == most else f"{least} to {most}"
        yield f"if all root causes were fixed, {share} of this time would go away"
    yield f"{percent(cost.explained)} of the time is explained"


def _describe_call(call: CallCost) -> str:
    name = f"{short_name(call.qualified)}()"
    if call.backward:
        name = f"backward of {name}"
    if call.call is None or call.shares is None:
        return f"{name}  cannot be told: {one_line(call.reason)}"
    shares = []
    for field, label in _SHARES:
        seconds = getattr(call.shares, field)
        if call.backward and field == "between":
            label = "eager rest"
        share = seconds / call.call.seconds if call.call.seconds else 0.0
        if seconds > 0:
            shares.append(f"{label} {percent(share)}")
    device = ""
    if call.device_graphs is not None and call.device_between is not None:
        in_graphs, between = duration(call.device_graphs), duration(call.device_between)
        device = f"; on the device {in_graphs} in graphs and {between} outside"
    return (
        f"{name}  {interval(call.call)}, {count(call.timed, 'call')} timed, "
        f"{_graphs(call.graphs)}: {', '.join(shares)}{device}"
    )


def _graphs(number: float) -> str:
    """Return the graphs of a call, which may differ from call to call."""
    if abs(number - round(number)) < 0.05:
        return count(round(number), "graph")
    return f"{number:.1f} graphs on average"


def bar(share: float) -> str:
    """Return a bar for a share between 0 and 1; the smallest price is still visible."""
    filled = round(min(max(share, 0.0), 1.0) * _BAR_WIDTH)
    if share > 0:
        filled = max(1, filled)
    return "█" * filled + "░" * (_BAR_WIDTH - filled)


def percent(share: float) -> str:
    """Return a share as a percentage."""
    if 0 < share < 0.01:
        return "<1%"
    return f"{share:.0%}"

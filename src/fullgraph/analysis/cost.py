"""What calls cost: where their time goes, and the price of each root cause.

Times are means over the middle half of the timed calls, between the quartiles. Like a median they
do not depend on the calls that other programs disturbed, and the parts of a call add up to it. A
break that is slow in two of five calls has a price, which a median would not show.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import get_args

from fullgraph.analysis.cascades import find_cascades
from fullgraph.analysis.gap_causes import Category, Part, divide_gap, root_line
from fullgraph.analysis.occurrences import list_occurrences, qualified_name, site_key
from fullgraph.analysis.sites import break_sites
from fullgraph.analysis.state import AnalysisState
from fullgraph.model.cost import CallCost, CausePrice, CostReport, CostShares, Estimate
from fullgraph.model.events import Code, Compile, Cost, Gap, Piece

# Fewer timed calls say nothing about the next one.
FEWEST_TIMED = 3
_NOT_REACHED = "no timed call ran graphs that it separates"
# A smaller part of a gap does not make a price uncertain.
_SMALL_SECONDS = 20e-6
_SMALL_FRACTION = 0.05


@dataclass
class _Price:
    """The seconds of one root cause in each timed call of a route, and what was counted."""

    seconds: list[float]
    operator_seconds: float = 0.0
    operators: int = 0
    host_copies: int = 0
    synchronizations: int = 0
    graphs: int = 0
    is_shared: bool = False
    is_counted: bool = True


@dataclass
class Route:
    """The timed calls that ran the same graphs, and where their seconds go."""

    cost: Cost
    calls: list[float]
    graphs: list[float]
    categories: dict[Category, list[float]]
    prices: dict[str, _Price] = field(default_factory=dict)

    @property
    def weight(self) -> int:
        """How many calls of the program it stands for."""
        return self.cost.calls - self.cost.compiling

    @property
    def is_told(self) -> bool:
        """Whether enough calls were timed."""
        return len(self.calls) >= FEWEST_TIMED

    def typical(self, values: Sequence[float]) -> float:
        """Return the mean of a part of the calls, over the middle half of the calls."""
        order = sorted(range(len(self.calls)), key=self.calls.__getitem__)
        quarter = len(order) // 4
        middle = order[quarter : len(order) - quarter]
        return statistics.fmean(values[index] for index in middle)


def measure_cost(state: AnalysisState) -> CostReport | None:
    """Return what calls cost; None if that was not captured."""
    routes = state.result(list_routes)
    if not routes:
        return None
    told = [route for route in routes if route.is_told]
    total = _total((route, route.calls) for route in told)
    unexplained = _total((route, route.categories["unexplained"]) for route in told)
    most = _total((route, price.seconds) for route in told for price in route.prices.values())
    least = sum(route.weight * _least(route, p) for route in told for p in route.prices.values())
    return CostReport(
        calls=_call_costs(routes),
        causes=state.result(price_causes),
        explained=1 - unexplained / total if total else None,
        at_most=min(1.0, most / total) if total else None,
        at_least=min(1.0, least / total) if total else None,
        reason="" if told else _too_few(routes),
    )


def list_routes(state: AnalysisState) -> list[Route]:
    """Return the newest measurements of each function and sequence of graphs."""
    newest = {
        (process, cost.target, cost.backward, cost.graphs): (process, cost)
        for process, cost in state.events(Cost)
    }
    return [_route(state, process, cost) for process, cost in newest.values()]


def _route(state: AnalysisState, process: int, cost: Cost) -> Route:
    rows = cost.samples
    route = Route(
        cost,
        calls=[sum(row) / 1e9 for row in rows],
        graphs=[sum(row[1::2]) / 1e9 for row in rows],
        categories={name: [0.0] * len(rows) for name in get_args(Category)},
    )
    if rows:
        slowdown = _slowdown(state, process, cost)
        for index in range(len(cost.gaps)):
            _add_gap(route, index, divide_gap(state, process, cost, index), slowdown)
    return route


def _add_gap(route: Route, index: int, parts: Sequence[Part], slowdown: float) -> None:
    """Add the seconds of one gap to the categories and root causes of a route."""
    gap = route.cost.gaps[index]
    seconds = [row[2 * index] / 1e9 for row in route.cost.samples]
    median = statistics.median(seconds)
    lookup = gap.profile.lookup_seconds / slowdown if gap.profile is not None else 0.0
    for number, time in enumerate(seconds):
        # However long the rest of a gap takes, finding compiled code takes the same time.
        in_lookup = min(lookup, time)
        route.categories["guards"][number] += in_lookup
        for part in parts:
            route.categories[part.category][number] += (time - in_lookup) * part.fraction
    causes = dict.fromkeys(part.cause for part in parts if part.cause is not None)
    scale = min(1.0, median / _profiled_seconds(gap)) if _profiled_seconds(gap) else 1.0
    for cause in causes:
        own = [part for part in parts if part.cause == cause]
        fraction = _fraction(parts, cause)
        price = route.prices.setdefault(cause, _Price([0.0] * len(seconds)))
        for number, time in enumerate(seconds):
            price.seconds[number] += time * fraction
        price.is_shared |= _is_shared(fraction, median)
        for part in own:
            _add_counts(price, part.piece, scale)
    if causes and 0 < index < len(route.cost.graphs):
        most = max(causes, key=lambda cause: _fraction(parts, cause))
        route.prices[most].graphs += 1


def _fraction(parts: Sequence[Part], cause: str) -> float:
    """Return which fraction of a gap belongs to a root cause."""
    return sum(part.fraction for part in parts if part.cause == cause)


def _is_shared(fraction: float, seconds: float) -> bool:
    """Return whether both a part of a gap and the rest of it are large enough to matter."""
    own, rest = fraction * seconds, (1 - fraction) * seconds
    return min(own, rest) > _SMALL_SECONDS and 1 - fraction > _SMALL_FRACTION


def _add_counts(price: _Price, piece: Piece | None, scale: float) -> None:
    """Add what was counted; `scale` makes up for the time that the profiler adds."""
    if piece is None:
        price.is_counted = False
        return
    price.operator_seconds += piece.operator_seconds * scale
    price.operators += piece.operators
    price.host_copies += piece.host_copies
    price.synchronizations += piece.synchronizations


def _slowdown(state: AnalysisState, process: int, cost: Cost) -> float:
    """Return how much longer the profiler makes it to enter compiled code.

    Before the first graph of a call there is often nothing else. Otherwise the whole call is
    compared.
    """
    first = cost.gaps[0]
    if first.profile is None:
        return 1.0
    enters = all(part.category == "guards" for part in divide_gap(state, process, cost, 0))
    gaps = range(1) if enters and cost.graphs else range(len(cost.gaps))
    profiled = sum(_profiled_seconds(cost.gaps[index]) for index in gaps)
    timed = statistics.median(sum(row[2 * index] for index in gaps) / 1e9 for row in cost.samples)
    return max(1.0, profiled / timed) if timed > 0 else 1.0


def _profiled_seconds(gap: Gap) -> float:
    if gap.profile is None:
        return 0.0
    return gap.profile.lookup_seconds + sum(piece.seconds for piece in gap.profile.pieces)


def price_causes(state: AnalysisState) -> tuple[CausePrice, ...]:
    """Return the price of each root cause, the most expensive first."""
    routes = state.result(list_routes)
    causes = [key for key, site in state.result(break_sites).items() if site.cascade_of is None]
    if not routes:
        return ()
    prices = [_price(state, routes, cause) for cause in causes]
    return tuple(sorted(prices, key=lambda price: -price.share))


def _price(state: AnalysisState, routes: Sequence[Route], cause: str) -> CausePrice:
    told = [route for route in routes if route.is_told]
    affected = [route for route in told if cause in route.prices]
    forward = [route for route in affected if not route.cost.backward]
    backward = [route for route in affected if route.cost.backward]
    total = _total((route, route.calls) for route in told)
    spent = _total((route, route.prices[cause].seconds) for route in affected)
    before = _estimate([(route, route.prices[cause].seconds) for route in forward])
    after = _estimate([(route, route.prices[cause].seconds) for route in backward])
    is_counted = all(route.prices[cause].is_counted for route in affected)
    return CausePrice(
        site=cause,
        reason="" if affected else _why_unknown(routes, told),
        price=_sum_of(before, after),
        backward=after,
        at_least=_mean((route, _least(route, route.prices[cause])) for route in forward)
        + _mean((route, _least(route, route.prices[cause])) for route in backward),
        share=spent / total if total else 0.0,
        operators=_counted(affected, cause, "operators") if is_counted else None,
        host_copies=_counted(affected, cause, "host_copies") if is_counted else None,
        synchronizations=_counted(affected, cause, "synchronizations") if is_counted else None,
        graphs=_mean((route, route.prices[cause].graphs) for route in forward),
        compile_seconds=_compile_seconds(state, cause),
        shared=any(route.prices[cause].is_shared for route in affected),
    )


def _counted(affected: Sequence[Route], cause: str, name: str) -> float:
    """Return how often something happens per call and its backward pass."""
    return sum(
        _mean(
            (route, float(getattr(route.prices[cause], name)))
            for route in affected
            if route.cost.backward is backward
        )
        for backward in (False, True)
    )


def _compile_seconds(state: AnalysisState, cause: str) -> float:
    """Return the time of compiling the rest of functions that a root cause split or skipped."""
    cascades = state.result(find_cascades)
    split: set[tuple[int, str, str, int | None]] = set()
    skipped = set()
    for occurrence in state.result(list_occurrences):
        key = site_key(occurrence)
        if (cascades[key].cause if key in cascades else key) != cause:
            continue
        root = occurrence.event.root
        split.add((occurrence.process, root.file, root.function, root_line(occurrence)))
        if occurrence.outcome == "skipped":
            skipped.add(occurrence.compile)
    return sum(
        event.seconds
        for process, event in state.events(Compile)
        if (process, event.id) in skipped
        or (
            event.code.resumed_at is not None
            and (process, event.code.file, event.code.function, event.code.resumed_at) in split
        )
    )


def _call_costs(routes: Sequence[Route]) -> tuple[CallCost, ...]:
    """Return the costs by function, the calls before their backward passes."""
    groups: dict[tuple[Code, bool], list[Route]] = {}
    for route in routes:
        groups.setdefault((route.cost.code, route.cost.backward), []).append(route)
    ordered = sorted(groups.items(), key=lambda item: item[0][1])
    return tuple(_call_cost(code, backward, group) for (code, backward), group in ordered)


def _call_cost(code: Code, backward: bool, routes: Sequence[Route]) -> CallCost:
    told = [route for route in routes if route.is_told]
    return CallCost(
        function=code.function,
        qualified=qualified_name(code),
        file=code.file,
        line=code.line,
        backward=backward,
        steady=sum(route.weight for route in routes),
        timed=sum(len(route.calls) for route in routes),
        graphs=_mean((route, float(len(route.cost.graphs))) for route in told or routes),
        reason="" if told else _too_few(routes),
        call=_estimate([(route, route.calls) for route in told]),
        shares=_shares(told) if told else None,
        device_graphs=_device(told, lambda cost: cost.device_seconds),
        device_between=_device(told, _device_between),
    )


def _shares(routes: Sequence[Route]) -> CostShares:
    parts = {
        name: _mean((route, route.typical(route.categories[name])) for route in routes)
        for name in get_args(Category)
    }
    graphs = _mean((route, route.typical(route.graphs)) for route in routes)
    return CostShares(graphs=graphs, **parts)


def _device(routes: Sequence[Route], seconds_of: Callable[[Cost], float | None]) -> float | None:
    known = [(route, seconds_of(route.cost)) for route in routes]
    found = [(route, seconds) for route, seconds in known if seconds is not None]
    return _mean(found) if found else None


def _device_between(cost: Cost) -> float | None:
    times = [gap.profile.device_seconds for gap in cost.gaps if gap.profile is not None]
    known = [time for time in times if time is not None]
    return sum(known) if known else None


def _least(route: Route, price: _Price) -> float:
    """Return the price without the operators, which have to run in any case."""
    return max(0.0, route.typical(price.seconds) - price.operator_seconds)


def _total(parts: Iterable[tuple[Route, Sequence[float]]]) -> float:
    """Return the time of a part of each call in the whole program."""
    return sum(route.weight * route.typical(values) for route, values in parts)


def _mean(values: Iterable[tuple[Route, float]]) -> float:
    """Return a mean over calls; 0 without calls."""
    known = list(values)
    weight = sum(route.weight for route, _ in known)
    return sum(route.weight * value for route, value in known) / weight if weight else 0.0


def _estimate(parts: Sequence[tuple[Route, Sequence[float]]]) -> Estimate | None:
    """Return a time per call with its quartiles; None without calls."""
    if not parts:
        return None
    quartiles = [(route, statistics.quantiles(values, n=4)) for route, values in parts]
    seconds = _mean((route, route.typical(values)) for route, values in parts)
    low = _mean((route, low) for route, (low, _, _) in quartiles)
    high = _mean((route, high) for route, (_, _, high) in quartiles)
    # The middle half of the calls is not the middle half of a part of them.
    return Estimate(seconds, min(low, seconds), max(high, seconds))


def _sum_of(first: Estimate | None, second: Estimate | None) -> Estimate | None:
    if first is None or second is None:
        return first or second
    return Estimate(
        first.seconds + second.seconds, first.low + second.low, first.high + second.high
    )


def _why_unknown(routes: Sequence[Route], told: Sequence[Route]) -> str:
    return _NOT_REACHED if told else _too_few(routes)


def _too_few(routes: Sequence[Route]) -> str:
    """Return why nothing can be told about some calls."""
    timed = max((len(route.calls) for route in routes), default=0)
    calls = sum(route.cost.calls for route in routes)
    if calls == sum(route.cost.errors for route in routes):
        return "no call ended without an error"
    return (
        f"{calls} call{'s' * (calls != 1)}, of which {timed} could be timed after warm-up; at "
        f"least {FEWEST_TIMED} timed calls that run the same graphs are needed"
    )

"""What each fix is worth, for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from fullgraph.fix.report.model import FixCost, FixPrice
from fullgraph.model.owners import this_process
from fullgraph.render._times import duration, interval
from fullgraph.terminal import Terminal, one_line


def cost_lines(cost: FixCost, terminal: Terminal) -> Iterator[str]:
    """Yield the price of each root cause."""
    yield ""
    yield terminal.style("cost of each root cause per steady call", "bold")
    for price in cost.prices:
        place = f"{one_line(this_process().display_path(price.file))}:{price.line}"
        number = "remaining" if price.fix is None else f"fix {price.fix + 1}"
        yield from terminal.wrapped(f"{number}  {place}  {_price(price)}", "  ", "      ")
    if cost.original is not None and cost.fixed is not None:
        calls = f"a call takes {interval(cost.original)} without fixes"
        calls += f" and {interval(cost.fixed)} with all of them"
        if cost.original_first is not None and cost.fixed_first is not None:
            calls += f"; the first call {cost.original_first:.2g} s and {cost.fixed_first:.2g} s"
        yield from terminal.wrapped(calls, "  ", "      ")
    elif cost.reason:
        yield from terminal.wrapped(f"not measured: {one_line(cost.reason)}", "  ", "      ")


def _price(price: FixPrice) -> str:
    if price.left_out is not None:
        text = f"{interval(price.left_out)} if it alone is not fixed"
        if price.alone is not None:
            text += f", saves {interval(price.alone)} if it alone is fixed"
        if price.first_call is not None:
            text += f"; first call {duration(price.first_call)}"
        return text
    if price.estimated is not None:
        return f"{interval(price.estimated)}, estimated: {one_line(price.reason)}"
    return f"cannot be told: {one_line(price.reason)}"

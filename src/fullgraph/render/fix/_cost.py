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
        number = f"fix {price.fix + 1}" if price.fix is not None else "remaining"
        if price.fix is None:
            place += f"  {one_line(price.type)}"
        yield from terminal.wrapped(f"{number}  {place}  {_price(price)}", "  ", "      ")
    if cost.original is not None and cost.fixed is not None:
        yield from terminal.wrapped(_calls(cost), "  ", "      ")
    elif cost.reason:
        yield from terminal.wrapped(f"not measured: {one_line(cost.reason)}", "  ", "      ")


def _calls(cost: FixCost) -> str:
    """Return what a call takes, without fixes and with all of them if there are any."""
    has_fixes = any(price.fix is not None for price in cost.prices)
    firsts = [f"{first:.2g} s" for first in (cost.original_first, cost.fixed_first) if first]
    steady = [interval(each) for each in (cost.original, cost.fixed) if each is not None]
    if not has_fixes:
        text = f"a call takes {steady[0]}"
        return f"{text}; the first call {firsts[0]}" if firsts else text
    text = f"a call takes {steady[0]} without fixes and {steady[-1]} with all of them"
    return f"{text}; the first call {' and '.join(firsts)}" if len(firsts) == 2 else text


def _price(price: FixPrice) -> str:
    if price.left_out is not None:
        text = f"{interval(price.left_out)} if it alone is not fixed"
        if price.alone is not None:
            text += f", saves {interval(price.alone)} if it alone is fixed"
        if price.first_call is not None:
            change = "longer" if price.first_call >= 0 else "less"
            text += f"; without it, the first call takes {duration(abs(price.first_call))} {change}"
        return text
    if price.estimated is not None:
        return f"{interval(price.estimated)}, estimated: {one_line(price.reason)}"
    return f"cannot be told: {one_line(price.reason)}"

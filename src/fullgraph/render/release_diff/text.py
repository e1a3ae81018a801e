"""The difference of two releases for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from fullgraph.registry.diff import Difference
from fullgraph.render._lines import joined
from fullgraph.render.entries.text import row_lines
from fullgraph.terminal import Terminal


def render(
    difference: Difference,
    *,
    width: int = 80,
    color: bool = False,
    is_terminal: bool = False,
    **_: object,
) -> str:
    """Return the counts, then the new, retired, revived and reworded entries."""
    return joined(_lines(difference, Terminal(width, color, cut=is_terminal)))


def _lines(difference: Difference, terminal: Terminal) -> Iterator[str]:
    yield f"{difference.earlier} → {difference.later}: {', '.join(_counts(difference))}"
    if difference.retired is None:
        yield "retired entries are unknown: one registry has no torch source code"
    for title, rows in (
        (f"new in {difference.later}", difference.new),
        ("retired: no call raises them", difference.retired or ()),
        ("revived: raised again", difference.revived or ()),
    ):
        if rows:
            yield from ("", terminal.style(title, "bold"), *row_lines(rows, terminal))
    if difference.reworded:
        yield from ("", terminal.style("reworded", "bold"))
    for each in difference.reworded:
        was = f" (was: {each.earlier_type})" if "type" in each.changed else ""
        text = f"{each.type}{was}  [{', '.join(each.changed)}]"
        yield from terminal.wrapped(text, f"{each.id}  ", " " * 8)


def _counts(difference: Difference) -> list[str]:
    counts = [f"{len(difference.new)} new", f"{len(difference.reworded)} reworded"]
    if difference.retired is not None and difference.revived is not None:
        counts += [f"{len(difference.retired)} retired", f"{len(difference.revived)} revived"]
    return counts

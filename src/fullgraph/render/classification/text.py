"""A model's categories next to ours for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fullgraph.render._lines import joined
from fullgraph.render.explanation.text import usage_lines
from fullgraph.terminal import Terminal, one_line

if TYPE_CHECKING:
    from fullgraph.ai.classify import Comparison, Sorted


def render(comparison: Comparison, *, width: int = 80, color: bool = False, **_: object) -> str:
    """Return how often they agree, in all and by category, then where they do not."""
    terminal = Terminal(width, color)
    total = len(comparison.entries)
    share = f" ({comparison.agreeing / total:.0%})" if total else ""
    lines = [
        f"torch {comparison.release}: {comparison.usage.model} agrees on {comparison.agreeing} of "
        f"{total} entries{share}",
        "",
    ]
    for each in comparison.by_category:
        lines.append(f"{each.agree:>5} of {each.entries:>3}  {each.category}")
    others = [each for each in comparison.entries if not each.agrees]
    if others:
        lines.append("")
    for entry in others:
        lines += terminal.wrapped(
            f"{entry.id}  {_difference(entry)}: {one_line(entry.type)}", "", " " * 8
        )
    return joined([*lines, "", *usage_lines(comparison.usage, terminal)])


def _difference(entry: Sorted) -> str:
    if not entry.model:
        return f"{entry.ours} (the model left it out)"
    if not entry.known:
        return f"{entry.ours}, the model says {entry.model}, which is no category"
    return f"{entry.ours}, the model says {entry.model}"

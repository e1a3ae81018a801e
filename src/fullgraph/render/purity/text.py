"""The result of a purity check for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fullgraph.render._lines import joined
from fullgraph.terminal import Terminal, clean

if TYPE_CHECKING:
    from fullgraph.fix.purity.check import PurityResult


def render(result: PurityResult, *, width: int = 80, color: bool = False, **_: object) -> str:
    """Return the answer, then one entry per finding, then how the function was run."""
    terminal = Terminal(width, color)
    style = "green" if result.pure else "red"
    answer = "is pure" if result.pure else "is not pure, as far as can be determined"
    lines = [f"{clean(result.function)} {terminal.style(answer, style)}"]
    for finding in result.findings:
        place = f"line {finding.line}" if finding.by == "source" else "run"
        where = f" (in {finding.function})" if finding.function else ""
        lines += terminal.wrapped(f"{finding.what}{where}", f"  {place:<10}", " " * 12)
    lines += terminal.wrapped(result.ran, "  ", "  ")
    return joined(lines)

"""A list of entries for a terminal: one line per entry."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from fullgraph.registry.pages import Row
from fullgraph.render._lines import joined
from fullgraph.terminal import Terminal, clean


def render(
    rows: list[Row],
    *,
    width: int = 80,
    color: bool = False,
    is_terminal: bool = False,
    listed: str = "",
    **_: object,
) -> str:
    """Return a table and the number of entries; `listed` says which entries these are."""
    lines = list(row_lines(rows, Terminal(width, color, cut=is_terminal)))
    count = f"{len(rows)} {'entry' if len(rows) == 1 else 'entries'}"
    return joined([*lines, "", f"{count} {listed}"] if rows else [f"no entry {listed}"])


def row_lines(rows: Iterable[Row], terminal: Terminal) -> Iterator[str]:
    """Yield a table: id, status, first release, category, type."""
    rows = list(rows)
    widest = max((len(row.category) for row in rows), default=0)
    for row in rows:
        state = {True: "live", False: "retired", None: "unknown"}[row.live]
        line = f"{row.id}  {state:<7}  {row.first_release or '-':<7}  {row.category:<{widest}}  "
        shown = terminal.clipped(line + clean(row.type).replace("\n", " "))
        yield terminal.style(shown, "" if row.live else "dim")

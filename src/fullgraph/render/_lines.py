"""From lines to a text: the end of every renderer for a terminal."""

from __future__ import annotations

from collections.abc import Iterable


def joined(lines: Iterable[str]) -> str:
    """Return the lines as one text, without trailing spaces and with a newline at the end."""
    return "".join(f"{line.rstrip()}\n" for line in lines)

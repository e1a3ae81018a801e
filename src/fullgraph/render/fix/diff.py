"""The source changes of a fix report as one unified diff."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fullgraph.terminal import encodable, printable

if TYPE_CHECKING:
    from fullgraph.fix.report.model import FixReport


def render(report: FixReport, *, is_terminal: bool = False, **_: object) -> str:
    """Return the diff; empty if no source changes.

    A file gets it unchanged, so that it can be applied. A terminal gets no control characters.
    """
    if is_terminal:
        return printable(report.diff.replace("\r\n", "\n"))
    return encodable(report.diff)

"""The source changes of a fix report as one unified diff."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fullgraph.fix.report.model import FixReport


def render(report: FixReport, **_: object) -> str:
    """Return the diff; empty if no source changes."""
    return report.diff

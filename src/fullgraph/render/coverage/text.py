"""The coverage of the catalog for a terminal."""

from __future__ import annotations

from fullgraph.catalog.coverage import Coverage
from fullgraph.render._lines import joined


def render(coverage: Coverage, **_: object) -> str:
    """Return the counts, then the ids of the entries without an example."""
    summary = coverage.summary
    lines = [
        f"torch {coverage.release}: {summary.entries} entries, {summary.live} of them live",
        f"{summary.examples:>5} have an example that breaks; {summary.fixes} of these have a fix",
        f"{summary.unreachable:>5} cannot be reached from Python on a CPU",
        f"{summary.missing:>5} are missing",
        *(f"       {identifier}" for identifier in coverage.missing),
    ]
    return joined(lines)

"""The report as JSON; docs/report-format.md describes the fields."""

from __future__ import annotations

from fullgraph.render._json import render

__all__ = ["render"]

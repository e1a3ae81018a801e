"""A fix report as JSON; `docs/fix-format.md` describes it."""

from __future__ import annotations

from fullgraph.render._json import render

__all__ = ["render"]

"""The choices and the recommendation as JSON; `docs/where.md` describes it."""

from __future__ import annotations

from fullgraph.render._json import render

__all__ = ["render"]

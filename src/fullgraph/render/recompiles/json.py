"""The groups of recompiles and their remedies as JSON; `docs/recompiles.md` describes it."""

from __future__ import annotations

from fullgraph.render._json import render

__all__ = ["render"]

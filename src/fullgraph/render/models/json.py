"""Models and providers as JSON."""

from __future__ import annotations

from fullgraph.render._json import render

__all__ = ["render"]

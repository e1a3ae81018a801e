"""The earlier name of the format `text`."""

from __future__ import annotations

from fullgraph.render.entries.text import render

__all__ = ["render"]

"""The verdict on a change as JSON; `docs/verify.md` describes it."""

from __future__ import annotations

from fullgraph.render._json import render

__all__ = ["render"]

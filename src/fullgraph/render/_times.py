"""Times and their intervals as strings."""

from __future__ import annotations

from fullgraph.model.cost import Estimate


def interval(estimate: Estimate) -> str:
    """Return a time with its quartiles."""
    low, high = milliseconds(estimate.low), milliseconds(estimate.high)
    return f"{milliseconds(estimate.seconds)} ({low} to {high})"


def milliseconds(seconds: float) -> str:
    """Return a time with about three digits."""
    value = seconds * 1e3
    digits = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2
    return f"{value:.{digits}f} ms"

"""Times and their intervals as strings."""

from __future__ import annotations

from fullgraph.model.cost import Estimate


def interval(estimate: Estimate) -> str:
    """Return a time with its quartiles."""
    low, high = duration(estimate.low), duration(estimate.high)
    return f"{duration(estimate.seconds)} ({low} to {high})"


def duration(seconds: float) -> str:
    """Return a time with two or three digits, in microseconds if it is short."""
    value = seconds * 1e3
    if 0 < abs(value) < 0.0995:
        return f"{value * 1e3:.0f} µs"
    digits = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2
    return f"{value:.{digits}f} ms"

"""Eager work of a known duration, and the timed calls that all cost programs share."""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable

import torch


def left_out() -> frozenset[str]:
    """Return the names of the causes that the command line leaves out."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--without", default="", metavar="NAME,...")
    return frozenset(name for name in parser.parse_args().without.split(",") if name)


def spin(milliseconds: float) -> None:
    """Keep the processor busy with small operators for that long."""
    end = time.perf_counter() + milliseconds / 1000
    values = torch.ones(8, 8)
    while time.perf_counter() < end:
        values = values @ values / 8


def time_calls(call: Callable[[], object], calls: int, warm_up: int = 5) -> None:
    """Call, then print the median and the quartiles of the steady calls as JSON."""
    for _ in range(warm_up):
        call()
    milliseconds = []
    for _ in range(calls):
        started = time.perf_counter()
        call()
        milliseconds.append((time.perf_counter() - started) * 1000)
    low, median, high = statistics.quantiles(milliseconds, n=4)
    print(json.dumps({"steady_ms": median, "low_ms": low, "high_ms": high}))

"""What is captured only on request, because it runs while compiled code runs: one file per measure.

A measure is a module of this folder with a function `start(emit)`. It is started in every captured
process whose environment names it in `FULLGRAPH_MEASURE` (names separated by commas).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib import import_module

from fullgraph.model.events import Event

MEASURE_VARIABLE = "FULLGRAPH_MEASURE"


def request_measure(name: str) -> None:
    """Make the programs that this process starts take a measure."""
    requested = [*filter(None, os.environ.get(MEASURE_VARIABLE, "").split(",")), name]
    os.environ[MEASURE_VARIABLE] = ",".join(dict.fromkeys(requested))


def start_measures(emit: Callable[[Event], None]) -> None:
    """Start the measures that the environment names."""
    for name in filter(None, os.environ.get(MEASURE_VARIABLE, "").split(",")):
        import_module(f"{__name__}.{name}").start(emit)

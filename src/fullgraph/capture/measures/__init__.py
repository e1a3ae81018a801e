"""What is captured only on request, because it runs while compiled code runs: one file per measure.

A measure is a module of this folder with a function `start(emit)`. It is started in every captured
process whose environment names it in `FULLGRAPH_MEASURE` (names separated by commas).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec

from fullgraph.errors import CaptureError
from fullgraph.model.events import Event

MEASURE_VARIABLE = "FULLGRAPH_MEASURE"


def requested_measures() -> list[str]:
    """Return the measures that the environment names."""
    return [name for name in os.environ.get(MEASURE_VARIABLE, "").split(",") if name]


def start_measures(emit: Callable[[Event], None]) -> None:
    """Start the measures that the environment names; an unknown one raises a `CaptureError`."""
    for name in requested_measures():
        module = f"{__name__}.{name}"
        if not name.isidentifier() or find_spec(module) is None:
            raise CaptureError(
                f"there is no measure {name!r}; correct the environment variable {MEASURE_VARIABLE}"
            )
        import_module(module).start(emit)

"""Measure the guards of each compile: all of them, and what one check of them costs.

They are measured when they are made, from the frame that Dynamo was given, so that neither
`torch._dynamo.reset()` nor the end of the process can discard them first.
"""

from __future__ import annotations

from collections.abc import Callable

from fullgraph.capture.dynamo_listener import capture
from fullgraph.model.events import Event


def start(_: Callable[[Event], None]) -> None:
    """Make the listener emit a `Guards` for each compile."""
    capture.measured.add("guards")

"""The line of the program behind a break that is reported in torch or in Python's own library."""

from __future__ import annotations

import sysconfig
from pathlib import Path

import msgspec

from fullgraph.fix.fixers import Spot


def caller_of(spot: Spot) -> Spot | None:
    """The break as a break of the nearest frame that can be rewritten; None without one."""
    if not is_foundation(spot.cause.file):
        return spot
    frames = [frame for frame in spot.cause.stack if not is_foundation(frame.file)]
    if not frames:
        return None
    nearest = frames[-1]
    text = spot.text_of(nearest.file)
    if text is None:
        return None
    cause = msgspec.structs.replace(
        spot.cause,
        file=nearest.file,
        line=nearest.line,
        column=nearest.column,
        function=nearest.function,
        end_line=nearest.end_line,
        end_column=nearest.end_column,
    )
    return Spot(cause, text, spot.text_of)


def is_foundation(file: str) -> bool:
    """Whether a file belongs to torch or to Python: what a program is built on."""
    parts = Path(file).parts
    if "site-packages" in parts:
        return parts[parts.index("site-packages") + 1 :][:1] in (("torch",), ("torchgen",))
    return file.startswith(("<", sysconfig.get_path("stdlib")))

"""`CategoryCounts`: all categories, with the number of entries of one torch release."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class CategoryCounts(NamedTuple):
    """The number of entries of each category, by its name."""

    release: str
    counts: Mapping[str, int]

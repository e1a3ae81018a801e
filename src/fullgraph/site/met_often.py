"""The breaks that are met most often: in reports of the site's owner, or in models that we ran.

`met_often.json` has the counts of our own run; `python -m bench met_often --write` writes it.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct, json

from fullgraph.catalog.parse import Example
from fullgraph.site.model import SiteData

_SETTING = re.compile(r'^CONFIG = \{(?!"recompile_limit)', re.MULTILINE)
COUNTED = Path(__file__).parent / "met_often.json"


class Counted(Struct, frozen=True):
    """How often breaks occur in a set of models."""

    models: int
    torch: str
    transformers: str
    # By id: the number of models and of break sites; most models first.
    breaks: dict[str, tuple[int, int]]


@cache
def counted_breaks() -> Counted:
    """Return the counts of our own run."""
    return json.decode(COUNTED.read_bytes(), type=Counted)


class Met(NamedTuple):
    """A break, and the number of programs that meet it."""

    id: str
    programs: int
    sites: int


class MetOften(NamedTuple):
    """The breaks that are met most often, and where they were counted."""

    breaks: list[Met]
    # A sentence.
    counted_in: str
    # What was run: "program" or "model".
    unit: str


def most_met(site: SiteData, most: int) -> MetOften:
    """Return the breaks that are met most often: in the owner's reports, or in our own run."""
    reported = [
        Met(each.id, each.sweep.programs, each.sweep.sites)
        for each in site.breaks.values()
        if each.sweep is not None
    ]
    if reported:
        return MetOften(_first(reported, most), "Counted in reports of programs.", "program")
    run = counted_breaks()
    counted = [
        Met(identifier, *numbers)
        for identifier, numbers in run.breaks.items()
        if identifier in site.breaks
    ]
    where = (
        f"Counted by fullgraph run in {run.models} models of transformers {run.transformers}, with "
        f"torch {run.torch}."
    )
    return MetOften(_first(counted, most), where, "model")


def _first(found: list[Met], most: int) -> list[Met]:
    return sorted(found, key=lambda each: (-each.programs, -each.sites, each.id))[:most]


def prior_of(site: SiteData) -> dict[str, int]:
    """Return how likely it is that somebody looks for a break, by id; most are not in it.

    A break that programs meet, that a lesson is about or that a fixer serves is asked for more
    often than the others. One that needs an unusual setting of Dynamo is -1.
    """
    found: Counter[str] = Counter()
    for each in most_met(site, len(site.breaks)).breaks:
        found[each.id] += min(3, each.programs)
    for lesson in site.lessons:
        found.update(lesson.breaks)
    for fixer in site.fixers:
        found.update(fixer.ids)
    for page in site.breaks.values():
        if page.id not in found and page.example and _needs_setting(page.example):
            found[page.id] = -1
    return dict(found)


def _needs_setting(example: Example) -> bool:
    """Check whether an example breaks only with a setting. A lower limit only makes it faster."""
    return _SETTING.search(example.file.read_text(encoding="utf-8")) is not None

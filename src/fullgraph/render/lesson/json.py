"""A lesson as JSON, with its parts and its program."""

from __future__ import annotations

from msgspec.structs import asdict

from fullgraph.guide.lesson import Lesson
from fullgraph.guide.wording import filled_lesson
from fullgraph.render import _json


def render(lesson: Lesson, **_: object) -> str:
    """Return the fields of a lesson; words of torch are filled in."""
    return _json.render({**asdict(filled_lesson(lesson)), "program": lesson.program})

"""The list of lessons as JSON, without their texts."""

from __future__ import annotations

from collections.abc import Sequence

from fullgraph.guide.lesson import Lesson
from fullgraph.render import _json


def render(lessons: Sequence[Lesson], **_: object) -> str:
    """Return one object per lesson."""
    return _json.render(
        [
            {
                "id": each.id,
                "number": each.number,
                "title": each.title,
                "minutes": each.minutes,
                "topics": each.topics,
                "breaks": each.breaks,
                "summary": each.summary,
            }
            for each in lessons
        ]
    )

"""The guide as a book: a table of contents and one page per lesson."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from markupsafe import Markup

from fullgraph.guide.lesson import Lesson, Part, question_of
from fullgraph.guide.wording import filled_lesson
from fullgraph.registry.pages import Page
from fullgraph.site.code_blocks import code_block, output_block, picture_block
from fullgraph.site.markdown import to_html
from fullgraph.site.model import SiteData, lesson_path
from fullgraph.site.pages import Output
from fullgraph.site.templating import frame_of, renderer

_INDEX = "guide/index.html"


class _Shown(NamedTuple):
    kind: str
    html: Markup
    # Shown after the answer of a question; empty for other parts.
    why: str = ""


def outputs(site: SiteData) -> Iterator[Output]:
    """Yield the pages."""
    frame = frame_of(site)

    def page_of(identifier: str) -> Page | None:
        each = site.breaks.get(identifier)
        return each.page if each is not None else None

    lessons = tuple(filled_lesson(lesson, page_of) for lesson in site.lessons)
    listed = [(each.id, each.number, each.title, each.minutes, each.summary) for each in lessons]
    values = {
        "kind": "guide",
        "title": "Guide",
        "description": "How torch.compile works, in short lessons with code that runs.",
        "lessons": lessons,
        "minutes": sum(lesson.minutes for lesson in lessons),
    }
    yield Output(_INDEX, (frame, listed), renderer("guide.html", frame, _INDEX, **values))
    for place, lesson in enumerate(lessons):
        before = lessons[place - 1] if place else None
        after = lessons[place + 1] if place + 1 < len(lessons) else None
        path = lesson_path(lesson.id)
        breaks = [site.breaks[each] for each in lesson.breaks if each in site.breaks]
        facts = (
            frame,
            lesson,
            [(each.id, each.title) for each in lessons],
            [(each.id, each.page.type) for each in breaks],
        )
        around = {"before": before, "after": after, "lessons": lessons}
        values = _values(lesson) | around | {"breaks": breaks}
        yield Output(path, facts, renderer("lesson.html", frame, path, **values))


def _values(lesson: Lesson) -> dict[str, Any]:
    return {
        "kind": "guide",
        "title": lesson.title.replace("`", ""),
        "description": lesson.summary,
        "lesson": lesson,
        # Rendered when the page is: highlighting takes time.
        "parts": lambda: [_shown(part) for part in lesson.parts],
    }


def _shown(part: Part) -> _Shown:
    if part.kind == "quiz":
        question = question_of(part)
        return _Shown("quiz", Markup(to_html(question.question)), question.why)
    blocks = {
        "text": lambda: Markup(to_html(part.text)),
        "code": lambda: code_block(part.text),
        "output": lambda: output_block(part.text),
        "picture": lambda: picture_block(part.text),
    }
    return _Shown(part.kind, blocks[part.kind]())

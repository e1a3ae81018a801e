"""Text of torch in the outputs of lessons: stored as markers, and filled in when it is shown.

`{{GB0170.type}}`, `{{GB0170.explanation}}` and `{{GB0170.hints}}` stand for the texts of an entry
of the registry, and `{{torch}}` for a message that has no entry. The texts of the installed torch
are shown in their place, and on a site those of its registry.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

from msgspec.structs import replace

from fullgraph.errors import FullgraphError
from fullgraph.guide.lesson import Lesson

if TYPE_CHECKING:
    from fullgraph.registry.pages import Library, Page

_FIELDS = ("type", "explanation", "hints")
_MARKER = re.compile(rf"\{{\{{(?:(GB\d{{4,}})\.({'|'.join(_FIELDS)})|torch)\}}\}}")
_IDENTIFIER = re.compile(r"GB\d{4,}")
_NO_ENTRY = "(torch's message: `--run` shows it)"

PageOf = Callable[[str], "Page | None"]


@cache
def page_of_installed(identifier: str) -> Page | None:
    """Return the page of an entry; None if the installed torch does not have it."""
    try:
        return _library().page(identifier)
    except FullgraphError:
        return None


@cache
def _library() -> Library:
    from fullgraph.registry.pages import Library

    return Library()


def with_markers(text: str) -> str:
    """Return text with a marker for each text of an entry whose id it contains."""
    for identifier in dict.fromkeys(_IDENTIFIER.findall(text)):
        for field in _FIELDS:
            words = _wording(page_of_installed(identifier), field)
            if words and words in text:
                text = text.replace(words, f"{{{{{identifier}.{field}}}}}")
    return text


def filled_in(text: str, page_of: PageOf = page_of_installed) -> str:
    """Return text with the words of torch instead of the markers."""

    def words(marker: re.Match[str]) -> str:
        if marker[1] is None:
            return _NO_ENTRY
        return _wording(page_of(marker[1]), marker[2]) or f"({marker[2]} of {marker[1]})"

    return _MARKER.sub(words, text)


def filled_lesson(lesson: Lesson, page_of: PageOf = page_of_installed) -> Lesson:
    """Return a lesson with the words of torch instead of the markers."""
    parts = (replace(part, text=filled_in(part.text, page_of)) for part in lesson.parts)
    return replace(lesson, parts=tuple(parts))


def _wording(page: Page | None, field: str) -> str:
    if page is None:
        return ""
    return "\n".join(page.hints) if field == "hints" else str(getattr(page, field)).strip()

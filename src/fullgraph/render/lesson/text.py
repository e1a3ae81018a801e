"""A lesson for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from fullgraph.guide.lesson import Lesson, Part, next_lesson
from fullgraph.guide.picture import EAGER, GRAPH
from fullgraph.guide.wording import filled_lesson
from fullgraph.render._lines import joined
from fullgraph.render._markdown import markdown_lines
from fullgraph.terminal import Terminal, clean

_INDENT = " " * 4


def render(lesson: Lesson, *, width: int = 80, color: bool = False, **_: object) -> str:
    """Return the title, the parts, and what to do next."""
    return joined(_lines(filled_lesson(lesson), Terminal(width, color)))


def _lines(lesson: Lesson, terminal: Terminal) -> Iterator[str]:
    yield terminal.style(f"{lesson.number}. {lesson.title}", "bold")
    yield f"{lesson.minutes} minutes"
    yield ""
    for part in lesson.parts:
        yield from part_lines(part, terminal)
    if lesson.breaks:
        yield from terminal.labelled("breaks", ", ".join(lesson.breaks))
    yield from terminal.labelled("try it", f"fullgraph learn {lesson.id} --run")
    if any(part.kind == "quiz" for part in lesson.parts):
        yield from terminal.labelled("", f"fullgraph learn {lesson.id} --quiz")
    if (following := next_lesson(lesson)) is not None:
        yield from terminal.labelled("next", f"fullgraph learn {following.id}")


def part_lines(part: Part, terminal: Terminal) -> Iterator[str]:
    """Yield the lines of one part; a question of the quiz has none."""
    if part.kind == "text":
        yield from markdown_lines(part.text, terminal)
    elif part.kind == "code":
        yield from (f"{_INDENT}{clean(line)}" for line in part.text.strip("\n").splitlines())
        yield ""
    elif part.kind == "output":
        for line in part.text.strip("\n").splitlines():
            yield f"{_INDENT}{terminal.style('│ ' + clean(line), 'dim')}"
        yield ""
    elif part.kind == "picture":
        yield from picture_lines(part.text, terminal)
        yield ""


def picture_lines(picture: str, terminal: Terminal) -> Iterator[str]:
    """Yield the lines of a picture, graphs and eager lines in colors."""
    for line in picture.strip("\n").splitlines():
        style = "cyan" if GRAPH in line else "yellow" if EAGER in line else "dim"
        yield f"{_INDENT}{terminal.style(clean(line), style)}"

"""Read and write the files of lessons."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct

from fullgraph.errors import FullgraphError

LESSONS = Path(__file__).parent / "lessons"

PartKind = Literal["text", "code", "output", "picture", "quiz"]

_FILE_NAME = re.compile(r"(\d+)-([a-z0-9-]+)\.md")
_FACTS = re.compile(r"\A\+\+\+\n(.*?)^\+\+\+\n", re.MULTILINE | re.DOTALL)
_BLOCK = re.compile(
    r"^```(python(?: raises)?|output|picture [^\n]+|quiz)\n(.*?)^```(?:\n|\Z)",
    re.MULTILINE | re.DOTALL,
)
_KINDS: dict[str, PartKind] = {
    "python": "code", "output": "output", "picture": "picture", "quiz": "quiz",
}  # fmt: skip


class Part(Struct, frozen=True):
    """A piece of a lesson: text, or one of the blocks that are more than text."""

    kind: PartKind
    text: str
    # The expression of a picture; "raises" for code that ends in an error.
    argument: str = ""


class Question(Struct, frozen=True):
    """A question of the quiz. The answer is an expression that the code above defines."""

    question: str
    answer: str
    # Shown after the answer.
    why: str
    choices: tuple[str, ...] = ()


class Lesson(Struct, frozen=True):
    """One lesson of the guide."""

    id: str
    # The place in the reading order.
    number: int
    title: str
    minutes: int
    topics: tuple[str, ...]
    breaks: tuple[str, ...]
    parts: tuple[Part, ...]

    @property
    def program(self) -> str:
        """All code of the lesson, as one program."""
        blocks = [part.text.strip("\n") for part in self.parts if part.kind == "code"]
        return "\n\n\n".join(blocks) + "\n"

    @property
    def summary(self) -> str:
        """The first paragraph."""
        first = next((part.text for part in self.parts if part.kind == "text"), "")
        return " ".join(first.strip().partition("\n\n")[0].split())

    def code_with_lines(self) -> Iterator[tuple[int, int]]:
        """Yield the index of each block of code, and the line of the program where it starts."""
        line = 1
        for index, part in enumerate(self.parts):
            if part.kind == "code":
                yield index, line
                line += part.text.strip("\n").count("\n") + 3


def question_of(part: Part) -> Question:
    """Return the question in a block of the quiz."""
    facts = tomllib.loads(part.text)
    choices = tuple(facts.get("choices", ()))
    return Question(facts["question"], facts["answer"], facts["why"], choices)


@cache
def all_lessons() -> tuple[Lesson, ...]:
    """Return the lessons in reading order."""
    return tuple(sorted(map(read_lesson, LESSONS.glob("*.md")), key=lambda each: each.number))


def lesson_named(name: str) -> Lesson:
    """Return the lesson with an id, a number, a title or a topic, such as `fullgraph=True`."""
    wanted = _plain(name)
    for lesson in all_lessons():
        if wanted in (lesson.id, str(lesson.number), _plain(lesson.title)):
            return lesson
    for lesson in all_lessons():
        if wanted in lesson.topics:
            return lesson
    ids = [each.id for each in all_lessons()]
    known = [each for each in ids if wanted and wanted in each] or get_close_matches(wanted, ids)
    nearest = f"; did you mean {' or '.join(known)}?" if known else ""
    raise FullgraphError(
        f"there is no lesson {name!r}{nearest} (fullgraph learn lists all of them)"
    )


def next_lesson(lesson: Lesson) -> Lesson | None:
    """Return the lesson to read next; None after the last one."""
    return next((each for each in all_lessons() if each.number == lesson.number + 1), None)


def _plain(name: str) -> str:
    """Return a name as ids are written."""
    return "-".join(re.findall(r"[a-z0-9]+", name.lower()))


def read_lesson(file: Path) -> Lesson:
    """Return the lesson in a file."""
    name = _FILE_NAME.fullmatch(file.name)
    if name is None:
        raise ValueError(f"{file.name}: the name of a lesson is like 03-guards.md")
    return parse_lesson(name[2], int(name[1]), file.read_text("utf-8"))


def parse_lesson(identifier: str, number: int, text: str) -> Lesson:
    """Return the lesson in the text of a file."""
    head = _FACTS.match(text)
    if head is None:
        raise ValueError(f"{identifier}: a lesson starts with facts between lines of +++")
    facts: dict[str, Any] = tomllib.loads(head[1])
    return Lesson(
        id=identifier,
        number=number,
        title=facts["title"],
        minutes=facts["minutes"],
        topics=tuple(facts["topics"]),
        breaks=tuple(facts.get("breaks", ())),
        parts=tuple(_parts(text[head.end() :])),
    )


def _parts(body: str) -> Iterator[Part]:
    position = 0
    for block in _BLOCK.finditer(body):
        if body[position : block.start()].strip():
            yield Part("text", body[position : block.start()].strip("\n") + "\n")
        kind, _, argument = block[1].partition(" ")
        yield Part(_KINDS[kind], block[2], argument)
        position = block.end()
    if body[position:].strip():
        yield Part("text", body[position:].strip("\n") + "\n")


def with_results(text: str, results: list[str]) -> str:
    """Return the text of a lesson with other outputs and pictures, in order.

    A block of code that prints has its output in the block below it; one that prints nothing has
    none.
    """
    head = _FACTS.match(text)
    assert head is not None
    waiting = iter(results)
    lines = [text[: head.end()].rstrip("\n")]
    for part in _parts(text[head.end() :]):
        if part.kind == "output":
            continue
        if part.kind == "picture":
            lines.append(_block(f"picture {part.argument}", next(waiting)))
            continue
        lines.append(part.text.strip("\n") if part.kind == "text" else _source_block(part))
        if part.kind == "code" and (output := next(waiting)):
            lines.append(_block("output", output))
    return "\n\n".join(lines) + "\n"


def _source_block(part: Part) -> str:
    name = {"code": "python", "quiz": "quiz"}[part.kind]
    return _block(f"{name} {part.argument}".strip(), part.text)


def _block(name: str, text: str) -> str:
    return f"```{name}\n{text.rstrip()}\n```"

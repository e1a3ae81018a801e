"""Run a lesson in front of the reader, and ask the questions of its quiz."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, redirect_stdout
from io import StringIO
from pathlib import Path

import click

from fullgraph.commands._output import window
from fullgraph.errors import FullgraphError
from fullgraph.guide.lesson import Lesson, Question, question_of
from fullgraph.guide.running import LessonFailedError, RunningLesson
from fullgraph.render.lesson.text import part_lines, picture_lines
from fullgraph.terminal import Terminal


def run_and_show(lesson: Lesson) -> None:
    """Show a lesson with what its code prints here and now."""
    terminal = Terminal(*window(sys.stdout.isatty()))
    click.echo(terminal.style(f"{lesson.number}. {lesson.title}", "bold") + "\n")
    with _running(lesson) as running:
        for index, part in enumerate(lesson.parts):
            if part.kind in ("text", "code"):
                _echo(part_lines(part, terminal))
            if part.kind == "code":
                _run_block(running, index)
            elif part.kind == "picture":
                with redirect_stdout(StringIO()):
                    picture = running.picture(index)
                _echo([*picture_lines(picture, terminal), ""])
    click.echo(f"fullgraph learn {lesson.id} --save FILE.py writes the program, to change it")


def ask(lesson: Lesson) -> None:
    """Show the code of a lesson without its output, ask, and check the answers by running it."""
    questions = [part for part in lesson.parts if part.kind == "quiz"]
    if not questions:
        raise FullgraphError(f"the lesson {lesson.id} has no quiz; use --run instead")
    terminal = Terminal(*window(sys.stdout.isatty()))
    right = 0
    # The code after the last question is not needed.
    last = max(index for index, part in enumerate(lesson.parts) if part.kind == "quiz")
    with _running(lesson) as running:
        for index, part in enumerate(lesson.parts[: last + 1]):
            if part.kind == "code":
                _echo(part_lines(part, terminal))
                with redirect_stdout(StringIO()):
                    running.run(index)
            elif part.kind == "quiz":
                right += _ask(question_of(part), running, terminal)
    click.echo(f"{right} of {len(questions)} right")


def _ask(question: Question, running: RunningLesson, terminal: Terminal) -> bool:
    _echo(terminal.wrapped(question.question))
    for choice in question.choices:
        click.echo(f"  - {choice}")
    given = _read_answer(question)
    with redirect_stdout(StringIO()):
        answer = str(running.evaluate(question.answer))
    is_right = _plain(given) == _plain(answer)
    verdict = "Right." if is_right else f"It is {answer}."
    _echo([*terminal.wrapped(f"{verdict} {question.why}"), ""])
    return is_right


def _read_answer(question: Question) -> str:
    """Return the next answer; in a terminal, one that is not among the choices is asked again."""
    is_terminal = sys.stdin.isatty()
    while True:
        if is_terminal:
            click.echo("> ", nl=False)
        given = sys.stdin.readline()
        if not given:
            raise FullgraphError(
                "no answer was given; run the quiz in a terminal, or pipe answers in"
            )
        allowed = [_plain(each) for each in question.choices]
        if not is_terminal or (given.strip() and (not allowed or _plain(given) in allowed)):
            return given
        click.echo(f"answer {' or '.join(question.choices)}" if allowed else "type an answer")


def _plain(answer: str) -> str:
    return " ".join(answer.lower().replace("`", "").split())


def _run_block(running: RunningLesson, index: int) -> None:
    error = running.run(index)
    if error is not None:
        click.echo(f"{type(error).__name__}: {error}")
    click.echo()


@contextmanager
def _running(lesson: Lesson) -> Iterator[RunningLesson]:
    with tempfile.TemporaryDirectory(prefix="fullgraph-lesson-") as folder:
        running = RunningLesson(lesson, Path(folder))
        try:
            yield running
        except (LessonFailedError, ImportError) as error:
            raise FullgraphError(f"the lesson {lesson.id} cannot run here: {error}") from None
        finally:
            running.close()


def _echo(lines: Iterable[str]) -> None:
    for line in lines:
        click.echo(line.rstrip())

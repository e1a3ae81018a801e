"""Run the code of a lesson."""

from __future__ import annotations

import io
import os
import sys
import traceback
from contextlib import redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any, NoReturn

from msgspec import json

from fullgraph.capture.dynamo_listener import capture
from fullgraph.guide.lesson import Lesson, question_of
from fullgraph.guide.normalize import normalized
from fullgraph.guide.picture import draw
from fullgraph.guide.wording import with_markers
from fullgraph.model.owners import TORCH, this_process


class LessonFailedError(Exception):
    """The code of a lesson raised an error, or did not raise the one that the lesson is about."""


class RunningLesson:
    """A lesson whose blocks are run one after the other, in this process.

    The code is a program in a file of its own, so that errors and reports name its lines.
    """

    def __init__(self, lesson: Lesson, folder: Path) -> None:
        self._lesson = lesson
        self.file = folder / f"{lesson.id.replace('-', '_')}.py"
        self.file.write_text(lesson.program, "utf-8")
        self._lines = dict(lesson.code_with_lines())
        # Dynamo looks the globals of a function up in the module that it names.
        self._module = ModuleType(self.file.stem)
        self._module.__file__ = str(self.file)
        sys.modules[self.file.stem] = self._module

    def run(self, index: int) -> Exception | None:
        """Run a block of code; return the error that the lesson is about, if it is about one.

        What the code prints goes to standard output.
        """
        part = self._lesson.parts[index]
        padded = "\n" * (self._lines[index] - 1) + part.text.strip("\n") + "\n"
        code = compile(padded, str(self.file), "exec")
        try:
            exec(code, vars(self._module))
        except Exception as error:
            if part.argument != "raises":
                raise
            return error
        if part.argument == "raises":
            raise LessonFailedError(f"the code at line {self._lines[index]} raises nothing")
        return None

    def picture(self, index: int) -> str:
        """Return the picture of a block."""
        expression = self._lesson.parts[index].argument
        function, _, arguments = expression.partition("(")
        called = self.evaluate(function)
        return draw(called, *self.evaluate(f"({arguments.removesuffix(')').rstrip(',')},)"))

    def evaluate(self, expression: str) -> Any:
        """Return the value of an expression, with the names of the code that has run."""
        return eval(expression, vars(self._module))

    def close(self) -> None:
        """Forget the module of the lesson."""
        sys.modules.pop(self.file.stem, None)


def results_of(lesson: Lesson, folder: Path) -> list[str]:
    """Run a lesson; return the outputs of its code and its pictures, as they are stored."""
    running = RunningLesson(lesson, folder)
    results: list[str] = []
    try:
        for index, part in enumerate(lesson.parts):
            if part.kind == "code":
                results.append(with_markers(normalized(_printed(running, index), folder)))
            elif part.kind == "picture":
                with redirect_stdout(io.StringIO()):
                    picture = running.picture(index)
                results.append(normalized(picture, folder))
            elif part.kind == "quiz":
                with redirect_stdout(io.StringIO()):
                    running.evaluate(question_of(part).answer)
    finally:
        running.close()
    return results


def _printed(running: RunningLesson, index: int) -> str:
    with redirect_stdout(io.StringIO()) as output:
        error = running.run(index)
    return output.getvalue() + (f"{_described(error)}\n" if error is not None else "")


def _described(error: Exception) -> str:
    """Return an error as a lesson shows it, without the words of torch."""
    name = type(error).__name__
    if not _is_from_torch(error):
        return f"{name}: {error}"
    from fullgraph.registry.match import Matcher
    from fullgraph.registry.pages import Library

    found = Matcher(Library().main.entries).find(str(error))
    if not found:
        return f"{name}: {{{{torch}}}}"
    identifier = found[0].candidates[0].id
    return f"{name}: {{{{{identifier}.type}}}} ({identifier})"


def _is_from_torch(error: Exception) -> bool:
    if type(error).__module__.partition(".")[0] == "torch":
        return True
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    file = trace.tb_frame.f_code.co_filename if trace is not None else ""
    return this_process().owner_of(file) == TORCH


def results_in_a_fork(lesson: Lesson) -> list[str]:
    """Run a lesson in a fork of this process, so that it changes nothing here."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        _answer(lesson, writer)
    os.close(writer)
    with open(reader, "rb") as stream:
        answer = stream.read()
    os.waitpid(child, 0)
    if not answer:
        raise LessonFailedError(f"{lesson.id}: the process ended without an answer")
    results, failure = json.decode(answer, type=tuple[list[str], str])
    if failure:
        raise LessonFailedError(f"{lesson.id}: {failure}")
    return results


def _answer(lesson: Lesson, writer: int) -> NoReturn:
    """Run a lesson, send the results, and end this process."""
    import torch

    results: list[str] = []
    failure = ""
    try:
        # The threads of the parent do not exist here; waiting for them would never end.
        torch.set_num_threads(1)
        capture.after_fork()
        # What torch logs is not a part of the output.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        with TemporaryDirectory() as folder:
            results = results_of(lesson, Path(folder))
    except BaseException:
        failure = traceback.format_exc()
    with open(writer, "wb") as stream:
        stream.write(json.encode((results, failure)))
    # Without exit handlers: those belong to the parent.
    os._exit(0)

"""The manual of the command line: chapters with commands, and with what they print.

A chapter is one Markdown file in `chapters/`, such as `02-run.md`; the number is its place. It
starts with facts in TOML between lines of `+++`: `title`, and `command`, the command that it is
about, if it is about one. Blocks of these kinds are more than text:

    ```python model.py     a file that the commands use
    ```command             a command line of fullgraph
    ```command varies      one whose output has measurements, so that no two runs are the same
    ```output              what the command above it printed

`python -m tools.refresh_manual` runs the commands and writes the outputs. Times, paths and the
words of torch are left out, see `stored_output`.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from msgspec import Struct

from fullgraph.guide.normalize import normalized, without_folders
from fullgraph.guide.wording import with_markers

CHAPTERS = Path(__file__).parent / "chapters"
_PACKAGE = Path(__file__).parent.parent.parent
WIDTH = 80

_FILE_NAME = re.compile(r"(\d+)-([a-z0-9-]+)\.md")
_FACTS = re.compile(r"\A\+\+\+\n(.*?)^\+\+\+\n", re.MULTILINE | re.DOTALL)
_BLOCK = re.compile(
    r"^```(python [\w./]+|command(?: varies)?|output)\n(.*?)^```(?:\n|\Z)",
    re.MULTILINE | re.DOTALL,
)
# Words of torch: its log lines, the explanation of a break, and its hints.
_LOG = re.compile(r"^[VIWE]\d{4} .*\n", re.MULTILINE)
_WHY = re.compile(r"^( *)(why +)\S.*\n(?:\1 {5,}\S.*\n)*", re.MULTILINE)
_HINT = re.compile(r"^( +\d+\. torch: ).*\n(?: {12,}\S.*\n)*", re.MULTILINE)
_MEASURED = re.compile(r"[\d.]+x (?:faster|slower)|as fast as before")
_SPEED = re.compile(r"^speed: .*(?:\n {2,}.*)*", re.MULTILINE)


class ChapterPart(Struct, frozen=True):
    """A piece of a chapter."""

    kind: Literal["text", "file", "command", "output"]
    text: str
    # The name of a file; "varies" for a command whose output is not the same twice.
    argument: str = ""


class Chapter(Struct, frozen=True):
    """One chapter of the manual."""

    id: str
    number: int
    title: str
    # The command that it is about; empty if it is about none.
    command: str
    parts: tuple[ChapterPart, ...]

    @property
    def summary(self) -> str:
        """The first paragraph."""
        first = next((part.text for part in self.parts if part.kind == "text"), "")
        return " ".join(first.strip().partition("\n\n")[0].split())

    @property
    def path(self) -> str:
        """The path of its page on the site."""
        return f"docs/commands/{self.id}.html" if self.command else f"docs/{self.id}.html"


@cache
def all_chapters() -> tuple[Chapter, ...]:
    """Return the chapters in order."""
    return tuple(sorted(map(read_chapter, CHAPTERS.glob("*.md")), key=lambda each: each.number))


def read_chapter(file: Path) -> Chapter:
    """Return the chapter in a file."""
    name = _FILE_NAME.fullmatch(file.name)
    text = file.read_text("utf-8")
    head = _FACTS.match(text)
    if name is None or head is None:
        raise ValueError(f"{file.name}: a chapter is named like 02-run.md and starts with facts")
    facts = tomllib.loads(head[1])
    parts = tuple(_parts(text[head.end() :]))
    return Chapter(name[2], int(name[1]), facts["title"], facts.get("command", ""), parts)


def _parts(body: str) -> Iterator[ChapterPart]:
    position = 0
    for block in _BLOCK.finditer(body):
        if body[position : block.start()].strip():
            yield ChapterPart("text", body[position : block.start()].strip("\n") + "\n")
        kind, _, argument = block[1].partition(" ")
        if kind == "python":
            yield ChapterPart("file", block[2], argument)
        elif kind == "command":
            yield ChapterPart("command", block[2], argument)
        else:
            yield ChapterPart("output", block[2])
        position = block.end()
    if body[position:].strip():
        yield ChapterPart("text", body[position:].strip("\n") + "\n")


def runs_a_program(part: ChapterPart) -> bool:
    """Check whether a command starts torch, which takes seconds."""
    return ".py" in part.text or "catalog run" in part.text


def outputs_of(chapter: Chapter, *, quick: bool = False) -> list[str | None]:
    """Run the commands of a chapter; return what each printed, as it is stored.

    With `quick`, those that start torch are left out: their place is None.
    """
    outputs: list[str | None] = []
    with TemporaryDirectory() as name:
        folder = Path(name)
        for part in chapter.parts:
            if part.kind == "file":
                (folder / part.argument).write_text(part.text, "utf-8")
            elif part.kind == "command":
                skipped = quick and runs_a_program(part)
                outputs.append(None if skipped else _output(part, folder))
    return outputs


def _output(part: ChapterPart, folder: Path) -> str:
    command = part.text.strip()
    program, *arguments = shlex.split(command)
    if program != "fullgraph":
        raise ValueError(f"{command!r} is not a command of fullgraph")
    done = subprocess.run(
        [sys.executable, "-m", "fullgraph", *arguments],
        cwd=folder,
        env={
            **os.environ,
            "COLUMNS": str(WIDTH),
            "NO_COLOR": "1",
            "FULLGRAPH_HOME": str(folder / "home"),
        },
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode not in (0, 1):
        raise ValueError(f"{command} ended with {done.returncode}: {done.stdout[-500:]}")
    return stored_output(done.stdout, folder, times=part.argument == "varies")


def stored_output(text: str, folder: Path, *, times: bool = False) -> str:
    """Return an output without paths and words of torch, and without times unless `times`.

    `…` stands for what is left out.
    """
    text = _LOG.sub("", text)
    text = _HINT.sub(r"\1…\n", _WHY.sub(r"\1\2…\n", text)).replace(f"{_PACKAGE}/", "")
    if times:
        text = without_folders(text, folder)
    else:
        text = _SPEED.sub("speed: …", text)
        text = normalized(_MEASURED.sub("…x faster", text), folder)
    return with_markers(text).strip("\n")


def with_outputs(text: str, outputs: list[str | None]) -> str:
    """Return the text of a chapter with other outputs, in order; None keeps the stored one."""
    head = _FACTS.match(text)
    assert head is not None
    parts = list(_parts(text[head.end() :]))
    waiting = iter(outputs)
    lines = [text[: head.end()].rstrip("\n")]
    for part, after in zip(parts, [*parts[1:], None], strict=True):
        if part.kind == "text":
            lines.append(part.text.strip("\n"))
        elif part.kind == "file":
            lines.append(_block(f"python {part.argument}", part.text))
        elif part.kind == "command":
            lines.append(_block(f"command {part.argument}".strip(), part.text))
            stored = after.text if after is not None and after.kind == "output" else ""
            output = next(waiting)
            lines.append(_block("output", stored if output is None else output))
    return "\n\n".join(lines) + "\n"


def _block(name: str, text: str) -> str:
    return f"```{name}\n{text.rstrip()}\n```"


def stale_commands(chapter: Chapter, outputs: list[str | None]) -> list[str]:
    """Return the commands whose stored output is not what they print.

    Of an output with measurements, only the first line is compared.
    """
    stale = []
    waiting = iter(outputs)
    for part, after in zip(chapter.parts, [*chapter.parts[1:], None], strict=True):
        if part.kind != "command":
            continue
        output = next(waiting)
        stored = after.text.strip("\n") if after is not None and after.kind == "output" else ""
        if output is None:
            continue
        if part.argument == "varies" and stored:
            output, stored = (each.partition("\n")[0] for each in (output, stored))
        if output != stored:
            stale.append(part.text.strip())
    return stale

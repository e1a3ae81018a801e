"""The options `--format` and `-o`, and writing a rendered result to a file or a stream."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from typing import IO, Any

import click

from fullgraph.errors import FullgraphError
from fullgraph.render import formats, render

# Longer lines are hard to read, even in a wide window.
WIDEST = 120

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def format_option(*kinds: str) -> Decorator:
    """Return the option `--format`, with the formats that `render/` has for all these kinds."""
    first, *others = (formats(kind) for kind in kinds)
    shared = [each for each in first if all(each in other for other in others)]
    return click.option(
        "--format",
        "format_",
        type=click.Choice(shared),
        default="text",
        show_default=True,
        help="Output format.",
    )


def renamed_option(old: str, new: str, *, is_flag: bool = False) -> Decorator:
    """Return a hidden option for the old name of an option: an error that says the new name."""

    def refuse(_context: click.Context, _option: click.Parameter, value: object) -> None:
        if value:
            raise FullgraphError(f"the option {old} was renamed; use {new}")

    return click.option(old, is_flag=is_flag, hidden=True, expose_value=False, callback=refuse)


def report_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--format`, `-o` and `--all` to a command that shows a report."""
    for option in (
        click.option(
            "--all", "show_all", is_flag=True, help="Show all root causes, not only the first 10."
        ),
        click.option("-o", "--output", metavar="FILE", help="Write only the report, to FILE."),
        format_option("report"),
    ):
        command = option(command)
    return command


def deliver(
    kind: str,
    value: object,
    format_: str,
    *,
    output: str | None = None,
    stream: IO[str] | None = None,
    widest: int | None = WIDEST,
    **options: object,
) -> None:
    """Render `value` and write it to the file `output`, or to `stream` (stdout by default).

    In a terminal, lines are as long as the window is wide, and at most `widest`. None is for
    tables: their rows are cut at the end, so they use the whole window. Nothing is cut elsewhere.
    """
    stream = stream or sys.stdout
    is_terminal = output is None and stream.isatty()
    width, color = window(is_terminal, widest)
    text = render(
        kind, value, format_, width=width, color=color, is_terminal=is_terminal, **options
    )
    if output is not None:
        from fullgraph.files import replace_file

        replace_file(output, [text.encode(errors="replace")])
        return
    # A stream that cannot encode a character gets a replacement character instead.
    encoding: str = getattr(stream, "encoding", None) or "utf-8"
    stream.write(text.encode(encoding, "replace").decode(encoding))
    stream.flush()


def window(is_terminal: bool, widest: int | None = WIDEST) -> tuple[int, bool]:
    """Return how wide lines are, and whether they have colors."""
    columns = shutil.get_terminal_size().columns if is_terminal else 80
    return min(columns, widest or columns), is_terminal and "NO_COLOR" not in os.environ


def deliver_after_run(
    kind: str, value: object, format_: str, *, output: str | None = None, **options: Any
) -> None:
    """Render `value` after a program has run: text goes to stderr, below the program's output."""
    # A stream is None if the shell has closed it.
    stream: IO[str] | None = sys.stdout if format_ == "json" else sys.stderr
    if output is None and stream is None:
        return
    if output is None and format_ == "text" and stream is not None:
        stream.write("\n")
    deliver(kind, value, format_, output=output, stream=stream, **options)

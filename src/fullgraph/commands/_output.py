"""Options and helpers that several commands share."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from typing import IO, TYPE_CHECKING, Any

import click

from fullgraph.files import replace_file

if TYPE_CHECKING:
    from fullgraph.model.report import Report

# Longer lines are hard to read, however wide the window is.
WIDEST = 120


def report_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--format`, `-o` and `--all`, the same for every command that shows a report."""
    from fullgraph.render import formats

    for option in (
        click.option("--all", "show_all", is_flag=True, help="Show every cause, not only the top."),
        click.option(
            "-o", "--output", metavar="FILE", help="Write the report to FILE, and nothing else."
        ),
        click.option(
            "--format", "format_", type=click.Choice(formats()), default="text", show_default=True
        ),
    ):
        command = option(command)
    return command


def deliver(
    report: Report, format_: str, output: str | None, show_all: bool, rest: str, stream: IO[str]
) -> None:
    """Write the report to the file that was asked for, or to `stream`."""
    from fullgraph.render import render

    terminal = output is None and stream.isatty()
    text = render(
        report,
        format_,
        width=min(shutil.get_terminal_size().columns, WIDEST) if terminal else 80,
        color=terminal and "NO_COLOR" not in os.environ,
        top=None if show_all else 10,
        rest=rest,
    )
    if output is None:
        # A terminal that cannot show a character shows another one instead of nothing at all.
        encoding: str = getattr(stream, "encoding", None) or "utf-8"
        stream.write(text.encode(encoding, "replace").decode(encoding))
        stream.flush()
    else:
        replace_file(output, [text.encode()])

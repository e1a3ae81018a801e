"""The line in a terminal that shows the current step of a long command."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click


@contextmanager
def progress_line() -> Iterator[Callable[[str], None]]:
    """Give a function that shows a step in place of the one before; the line goes at the end.

    It goes after an error, too: the message of the error must start on an empty line. Nothing is
    shown outside of a terminal.
    """
    is_terminal = sys.stderr is not None and sys.stderr.isatty()

    def show(message: str) -> None:
        if is_terminal:
            click.echo(f"\r\x1b[K  {message} …", nl=False, err=True)

    try:
        yield show
    finally:
        if is_terminal:
            click.echo("\r\x1b[K", nl=False, err=True)

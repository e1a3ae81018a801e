"""Writing lines or JSON to standard output, for commands that show the registry."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterable
from typing import Any

import click

format_option: Callable[[Any], Any] = click.option(
    "--format",
    "format_",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
)


def terminal_size() -> tuple[int, bool]:
    """How wide standard output is, and whether it may be coloured."""
    is_terminal = sys.stdout.isatty()
    width = shutil.get_terminal_size().columns if is_terminal else 80
    return width, is_terminal and "NO_COLOR" not in os.environ


def write_lines(lines: Iterable[str]) -> None:
    for line in lines:
        click.echo(line.rstrip())


def write_json(value: object) -> None:
    from msgspec import json

    click.echo(json.format(json.encode(value), indent=2).decode())

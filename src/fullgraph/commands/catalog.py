from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from fullgraph.commands._terminal import format_option, terminal_size, write_json, write_lines
from fullgraph.errors import FullgraphError

if TYPE_CHECKING:
    from fullgraph.catalog.parse import Example


@click.group()
def command() -> None:
    """Examples that break and fixes that do not, for the entries of the registry."""


@command.command()
@click.argument("identifier", metavar="ID")
def run(identifier: str) -> None:
    """Show an example happen: what breaks, then each fix, run on the torch that is installed."""
    example = _example(identifier)
    from fullgraph.capture.process import check_torch

    check_torch()
    from fullgraph.catalog.verify import verify
    from fullgraph.render import render
    from fullgraph.render.example.text import example_lines
    from fullgraph.terminal import Terminal

    terminal = Terminal(*terminal_size())
    write_lines(example_lines(example, terminal))
    click.echo()
    verdict = verify(example.id)
    if verdict.report is not None:
        click.echo(render(verdict.report, "text", width=terminal.width))
    _conclude([f"{example.id}: {failure}" for failure in verdict.failures], len(example.fixes))


@command.command()
@click.argument("identifiers", metavar="[ID]...", nargs=-1)
def check(identifiers: tuple[str, ...]) -> None:
    """Run examples and say which of their claims do not hold; all of them without an ID."""
    from fullgraph.capture.process import check_torch
    from fullgraph.catalog.parse import example_ids

    check_torch()
    ids = [_example(identifier).id for identifier in identifiers] or example_ids()
    from fullgraph.catalog.verify import verify

    failures: list[str] = []
    fixes = 0
    for number, identifier in enumerate(ids, start=1):
        if sys.stderr.isatty():
            click.echo(f"\r{number} of {len(ids)}", nl=False, err=True)
        verdict = verify(identifier)
        fixes += len(verdict.fixes)
        failures += [f"{identifier}: {failure}" for failure in verdict.failures]
    if sys.stderr.isatty():
        click.echo("\r", nl=False, err=True)
    for failure in failures:
        click.echo(failure)
    click.echo(f"{len(ids)} examples, {fixes} fixes, {len(failures)} failures")
    sys.exit(1 if failures else 0)


@command.command()
@format_option
def coverage(format_: str) -> None:
    """Count the entries of your torch that have an example and a fix; list those without."""
    from fullgraph.catalog.coverage import cover

    found = cover()
    if format_ == "json":
        write_json(found)
        return
    summary = found.summary
    write_lines(
        [
            f"torch {found.release}: {summary.entries} entries, {summary.live} of them live",
            f"{summary.examples:>5} have an example that breaks, {summary.fixes} of those a fix",
            f"{summary.unreachable:>5} cannot be reached from Python on a CPU",
            f"{summary.missing:>5} are missing",
            *(f"       {identifier}" for identifier in found.missing),
        ]
    )


def _example(identifier: str) -> Example:
    from fullgraph.catalog.parse import example_ids, read_example

    example = read_example(identifier)
    if example is None:
        raise FullgraphError(
            f"the catalog has no example for {identifier}; it has {len(example_ids())} others, "
            "which fullgraph catalog coverage lists"
        )
    return example


def _conclude(failures: list[str], fixes: int) -> None:
    for failure in failures:
        click.echo(failure)
    if failures:
        sys.exit(1)
    click.echo(f"verified: it breaks as it says, and {fixes} of its {fixes} fixes hold")

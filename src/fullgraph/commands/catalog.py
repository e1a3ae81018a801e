"""`fullgraph catalog`: run, check and count the examples of the catalog."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from fullgraph.commands._output import deliver, format_option
from fullgraph.errors import FullgraphError

if TYPE_CHECKING:
    from fullgraph.catalog.parse import Example


@click.group()
def command() -> None:
    """Run the examples of graph breaks and fixes."""


@command.command()
@click.argument("identifier", metavar="ID")
def run(identifier: str) -> None:
    """Run an example and its fixes on the installed torch."""
    example = _example(identifier)
    from fullgraph.capture.process import check_torch

    check_torch()
    from fullgraph.catalog.verify import verify

    deliver("example", example, "text")
    click.echo()
    result = verify(example.id)
    deliver("report", result.report, "text")
    click.echo()
    for failure in result.failures:
        click.echo(f"{example.id}: {failure}")
    if result.failures:
        sys.exit(1)
    count = len(example.fixes)
    fixes = "its fix works" if count == 1 else f"its {count} fixes work"
    click.echo(f"verified: {example.id} breaks" + (f", and {fixes}" if count else ""))


@command.command()
@click.argument("identifiers", metavar="[ID]...", nargs=-1)
def check(identifiers: tuple[str, ...]) -> None:
    """Run examples and list the claims that are not true. By default, run all examples."""
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
        result = verify(identifier)
        fixes += len(result.fixes)
        failures += [f"{identifier}: {failure}" for failure in result.failures]
    if sys.stderr.isatty():
        click.echo("\r", nl=False, err=True)
    for failure in failures:
        click.echo(failure)
    click.echo(f"{len(ids)} examples, {fixes} fixes, {len(failures)} failures")
    sys.exit(1 if failures else 0)


@command.command()
@format_option("coverage")
def coverage(format_: str) -> None:
    """Count the entries of the installed torch that have an example and a fix."""
    from fullgraph.catalog.coverage import measure_coverage

    deliver("coverage", measure_coverage(), format_)


def _example(identifier: str) -> Example:
    from fullgraph.catalog.parse import example_ids, read_example

    example = read_example(identifier)
    if example is None:
        raise FullgraphError(
            f"the catalog has no example for {identifier}; fullgraph catalog coverage --format "
            f"json lists the {len(example_ids())} that it has"
        )
    return example

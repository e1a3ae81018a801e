from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from fullgraph.errors import FullgraphError

if TYPE_CHECKING:
    from fullgraph.catalog.read import Example


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

    click.echo(f"{example.id}  {' '.join(example.how.split())}\n")
    click.echo(_indented(example.breaks))
    verdict = verify(example.id)
    if verdict.report is not None:
        click.echo(render(verdict.report, "text"))
    for fix in example.fixes:
        click.echo(f"{fix.kind}, {fix.safety}: {fix.why}\n")
        click.echo(_indented(fix.source))
    if example.instead:
        click.echo(f"instead: {example.instead}\n")
    _conclude([f"{example.id}: {failure}" for failure in verdict.failures], len(example.fixes))


@command.command()
@click.argument("identifiers", metavar="[ID]...", nargs=-1)
def check(identifiers: tuple[str, ...]) -> None:
    """Run examples and say which of their claims do not hold; all of them without an ID."""
    from fullgraph.capture.process import check_torch
    from fullgraph.catalog.read import example_ids

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


def _example(identifier: str) -> Example:
    from fullgraph.catalog.read import example_ids, read_example

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


def _indented(source: str) -> str:
    return "".join(f"    {line}\n" if line else "\n" for line in source.splitlines())

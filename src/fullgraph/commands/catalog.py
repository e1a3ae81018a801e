"""`fullgraph catalog`: run, check and count the examples of the catalog."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from fullgraph.commands._output import deliver, format_option
from fullgraph.errors import FullgraphError

if TYPE_CHECKING:
    from fullgraph.catalog.parse import Example
    from fullgraph.catalog.verdicts import Verdict


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
    result = verify(example.key)
    deliver("report", result.report, "text")
    click.echo()
    for failure in result.failures:
        click.echo(f"{example.key}: {failure}")
    if result.failures:
        sys.exit(1)
    count = len(example.fixes)
    fixes = "its fix works" if count == 1 else f"its {count} fixes work"
    click.echo(f"verified: {example.key} breaks" + (f", and {fixes}" if count else ""))


@command.command()
@click.argument("identifiers", metavar="[ID]...", nargs=-1)
@click.option(
    "--record",
    metavar="FOLDER",
    type=click.Path(file_okay=False, path_type=Path),
    help="Also write the verdicts to FOLDER/RELEASE.json, for the release of the installed torch.",
)
def check(identifiers: tuple[str, ...], record: Path | None) -> None:
    """Run examples and list the claims that are not true. By default, run all examples."""
    from fullgraph.capture.process import check_torch
    from fullgraph.catalog.parse import example_keys

    check_torch()
    keys = [_example(identifier).key for identifier in identifiers] or example_keys()
    failures: list[str] = []
    fixes = 0
    found: dict[str, Verdict] = {}
    for number, key in enumerate(keys, start=1):
        if sys.stderr.isatty():
            click.echo(f"\r{number} of {len(keys)}", nl=False, err=True)
        result = _verify(key, record is not None)
        fixes += result.fixes
        failures += [f"{key}: {failure}" for failure in result.failures]
        found[key] = result.verdict
    if sys.stderr.isatty():
        click.echo("\r", nl=False, err=True)
    for failure in failures:
        click.echo(failure)
    click.echo(f"{len(keys)} examples, {fixes} fixes, {len(failures)} failures")
    if record:
        _record(record, found)
    sys.exit(1 if failures else 0)


class _Checked(NamedTuple):
    fixes: int
    failures: tuple[str, ...]
    verdict: Verdict


def _verify(key: str, recording: bool) -> _Checked:
    from fullgraph.catalog.verdicts import Verdict
    from fullgraph.catalog.verify import verify

    try:
        result = verify(key)
    except Exception as error:
        # An example may use a part of torch that this release does not have.
        if not recording:
            raise
        return _Checked(0, (f"it cannot be run: {error!r}",), Verdict("not_run"))
    return _Checked(len(result.fixes), result.failures, result.verdict)


def _record(folder: Path, found: dict[str, Verdict]) -> None:
    """Add verdicts to the file of the installed release, and remove those of deleted examples."""
    from fullgraph.catalog.parse import example_keys
    from fullgraph.catalog.verdicts import read_verdicts, write_verdicts
    from fullgraph.installed_torch import torch_version
    from fullgraph.registry.releases import base_of

    file = folder / f"{base_of(torch_version() or '')}.json"
    known = read_verdicts(file) if file.exists() else {}
    known |= found
    write_verdicts(file, {key: known[key] for key in example_keys() if key in known})
    click.echo(f"wrote {file}")


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

from __future__ import annotations

import click


@click.group()
def command() -> None:
    """A web site of every known break, built from the registry."""


@command.command()
@click.option("-o", "--output", metavar="DIR", required=True, help="The folder to write.")
@click.option("--release", metavar="RELEASE", help="The installed torch by default.")
def build(output: str, release: str | None) -> None:
    """Build the site into a folder."""
    from pathlib import Path

    from fullgraph.registry.sources import snapshot_named
    from fullgraph.site.build import build
    from fullgraph.site.data import gather

    site = gather(snapshot_named(release))
    click.echo(f"{build(site, Path(output))} files written to {output}")

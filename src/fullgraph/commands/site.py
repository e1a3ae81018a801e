from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click


def _tell(message: str) -> None:
    click.echo(message, err=True)


def _source_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """What a site is built from, the same for every command that builds one."""
    for option in (
        click.option(
            "--settings", metavar="FILE", help="Settings; site.toml in this folder by default."
        ),
        click.option(
            "--info", metavar="DIR", help="Additional information, one gb0124.md a break."
        ),
        click.option(
            "--seen",
            metavar="PATH",
            help="A report as `fullgraph run --format json` writes it, or a folder of them.",
        ),
        click.option(
            "--release",
            metavar="RELEASE",
            help="A release such as 2.15, a registry that was synced, a file, a checkout or an "
            "address. The installed torch by default.",
        ),
    ):
        command = option(command)
    return command


@click.group()
def command() -> None:
    """A web site with a page for every known break."""


@command.command()
@click.option(
    "-o", "--output", metavar="DIR", required=True, help="A new folder, an empty one, or a site."
)
@_source_options
def build(
    output: str, release: str | None, seen: str | None, info: str | None, settings: str | None
) -> None:
    """Build the site into a folder. Only what changed is written."""
    from fullgraph.registry.sources import snapshot_named
    from fullgraph.site.build import build
    from fullgraph.site.output import check_folder
    from fullgraph.site.settings import make_plan

    plan = make_plan(settings, info, release, seen)
    folder = Path(output)
    check_folder(folder)
    click.echo(build(snapshot_named(plan.release, _tell), plan, folder, _tell).summary())


@command.command("import")
@click.argument("source", metavar="DIR")
@click.option("--info", metavar="DIR", help="Where to put it; the folder of site.toml by default.")
@click.option("--settings", metavar="FILE", help="Settings; site.toml in this folder by default.")
def import_(source: str, info: str | None, settings: str | None) -> None:
    """Take over additional information that was written for the original site.

    DIR is a checkout of it, or its docs/gb. Only what lies between the markers is copied, with
    them. Nothing that is here already is overwritten.
    """
    from fullgraph.site.importing import import_folder
    from fullgraph.site.settings import make_plan

    target = Path(info) if info else make_plan(settings).info
    for line in import_folder(Path(source), target).lines():
        click.echo(line)


@command.command()
@click.argument("folder", metavar="DIR")
@_source_options
def check(
    folder: str, release: str | None, seen: str | None, info: str | None, settings: str | None
) -> None:
    """Look a site over: links, requests to other hosts, markers, stale and changed pages.

    Ends with 1 if something is wrong, a line each. The release that the site was built from is
    compared with unless another one is named.
    """
    from fullgraph.site.check import check_site
    from fullgraph.site.settings import make_plan

    found = check_site(Path(folder), make_plan(settings, info, release, seen))
    for problem in found.problems:
        click.echo(problem)
    for note in found.notes:
        _tell(note)
    if found.problems:
        raise click.exceptions.Exit(1)
    click.echo(f"{found.files} files, nothing wrong")


@command.command()
@click.option(
    "-o", "--output", metavar="DIR", required=True, help="A new folder, an empty one, or a site."
)
@click.option(
    "--every",
    type=click.FloatRange(min=0.1),
    default=180,
    show_default=True,
    metavar="SECONDS",
    help="How often to look.",
)
@_source_options
def watch(
    output: str,
    every: float,
    release: str | None,
    seen: str | None,
    info: str | None,
    settings: str | None,
) -> None:
    """Keep a site up to date: look at the source now and then, build when it has changed.

    When the source is down or damaged, the last good site stays. Ctrl-C ends it.
    """
    from fullgraph.site.settings import make_plan
    from fullgraph.site.watch import watch

    watch(lambda: make_plan(settings, info, release, seen), Path(output), every, click.echo)


@command.command()
@click.option("--port", default=8000, show_default=True, help="0 takes any that is free.")
@click.option(
    "-o", "--output", metavar="DIR", help="Where to build; a temporary folder by default."
)
@_source_options
def serve(
    port: int,
    output: str | None,
    release: str | None,
    seen: str | None,
    info: str | None,
    settings: str | None,
) -> None:
    """Show the site on this machine, and reload it when something changes. Ctrl-C ends it."""
    from tempfile import TemporaryDirectory

    from fullgraph.site.serve import serve
    from fullgraph.site.settings import make_plan

    named = {"settings": settings, "info": info, "release": release, "seen": seen}
    options = [part for name, value in named.items() if value for part in (f"--{name}", value)]
    with TemporaryDirectory(prefix="fullgraph-site-") as temporary:
        serve(
            lambda: make_plan(settings, info, release, seen),
            options,
            Path(output or temporary),
            port,
            click.echo,
        )

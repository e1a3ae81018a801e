"""`fullgraph site`: build, serve, watch and check the web site."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import click

from fullgraph.commands._output import renamed_option


def _progress(message: str) -> None:
    click.echo(message, err=True)


def _source_options(
    command: Callable[..., Any], *, default_release: str = "the installed torch"
) -> Callable[..., Any]:
    """Add the options that say what a site is built from."""
    for option in (
        click.option("--settings", metavar="FILE", help="Settings file; site.toml by default."),
        click.option(
            "--info",
            metavar="DIR",
            help="Folder of additional information, one file per break "
            "(gb0124.md); info by default.",
        ),
        click.option(
            "--reports",
            metavar="PATH",
            help="Report of `fullgraph run --format json`, or a folder of them; none by default.",
        ),
        renamed_option("--seen", "--reports"),
        click.option(
            "--release",
            metavar="RELEASE",
            help="Release such as 2.15, name of a downloaded registry, file, checkout or URL; "
            f"{default_release} by default.",
        ),
    ):
        command = option(command)
    return command


@click.group()
def command() -> None:
    """Build, check and serve a static site with one page per graph break."""


@command.command()
@click.option(
    "-o", "--output", metavar="DIR", required=True, help="New or empty folder, or a site to update."
)
@_source_options
def build(
    output: str, release: str | None, reports: str | None, info: str | None, settings: str | None
) -> None:
    """Build the site into a folder. Only changed files are written."""
    from fullgraph.registry.sources import snapshot_named
    from fullgraph.site.build import build
    from fullgraph.site.output import check_folder
    from fullgraph.site.settings import make_plan

    plan = make_plan(settings, info, release, reports)
    folder = Path(output)
    check_folder(folder)
    click.echo(build(snapshot_named(plan.release, _progress), plan, folder, _progress).summary())


@command.command("import")
@click.argument("source", metavar="DIR")
@click.option("--info", metavar="DIR", help="Target folder; the one in the settings by default.")
@click.option("--settings", metavar="FILE", help="Settings file; site.toml by default.")
def import_(source: str, info: str | None, settings: str | None) -> None:
    """Import additional information that was written for the original site.

    DIR is a checkout of that site, or its docs/gb. Only the text between the markers is copied,
    with the markers. A page whose id no known release has is copied as a whole. Existing files
    are not overwritten.
    """
    from fullgraph.registry.sources import all_histories, installed_snapshot
    from fullgraph.site.importing import import_folder
    from fullgraph.site.settings import make_plan

    target = Path(info) if info else make_plan(settings).info
    known = {*all_histories().ids(), *getattr(installed_snapshot(), "entries", ())}
    for line in import_folder(Path(source), target, known).lines():
        click.echo(line)


@command.command()
@click.argument("folder", metavar="[DIR]", required=False)
@partial(_source_options, default_release="the one that the site was built from")
def check(
    folder: str | None,
    release: str | None,
    reports: str | None,
    info: str | None,
    settings: str | None,
) -> None:
    """Check a site for broken links, external requests, damaged markers and stale pages.

    Without DIR, only the folder of additional information is checked: markers, links, size, text
    outside of the markers and symbolic links. Prints one line per problem; the exit code is then
    1.
    """
    from fullgraph.site.check import check_contributions, check_site
    from fullgraph.site.settings import make_plan

    plan = make_plan(settings, info, release, reports)
    found = check_site(Path(folder), plan) if folder else check_contributions(plan)
    for problem in found.problems:
        click.echo(problem)
    for note in found.notes:
        _progress(note)
    if found.problems:
        raise click.exceptions.Exit(1)
    click.echo(f"{found.files} {'file' if found.files == 1 else 'files'}, no problems")


@command.command()
@click.option(
    "-o", "--output", metavar="DIR", required=True, help="New or empty folder, or a site to update."
)
@click.option(
    "--every",
    type=click.FloatRange(min=0.1),
    default=180,
    show_default=True,
    metavar="SECONDS",
    help="Interval between checks.",
)
@_source_options
def watch(
    output: str,
    every: float,
    release: str | None,
    reports: str | None,
    info: str | None,
    settings: str | None,
) -> None:
    """Keep a site up to date: build it again whenever its source changes.

    If the source is unreachable or damaged, the last good site stays. Ctrl-C stops the command.
    """
    from fullgraph.site.settings import make_plan
    from fullgraph.site.watch import watch

    watch(lambda: make_plan(settings, info, release, reports), Path(output), every, click.echo)


@command.command()
@click.option("--port", default=8000, show_default=True, help="Port; 0 uses any free port.")
@click.option(
    "-o", "--output", metavar="DIR", help="Folder to build into; a temporary one by default."
)
@_source_options
def serve(
    port: int,
    output: str | None,
    release: str | None,
    reports: str | None,
    info: str | None,
    settings: str | None,
) -> None:
    """Serve the site on this machine and reload it on changes. Ctrl-C stops the command."""
    from tempfile import TemporaryDirectory

    from fullgraph.site.serve import serve
    from fullgraph.site.settings import make_plan

    named = {"settings": settings, "info": info, "release": release, "reports": reports}
    options = [part for name, value in named.items() if value for part in (f"--{name}", value)]
    with TemporaryDirectory(prefix="fullgraph-site-") as temporary:
        serve(
            lambda: make_plan(settings, info, release, reports),
            options,
            Path(output or temporary),
            port,
            click.echo,
        )

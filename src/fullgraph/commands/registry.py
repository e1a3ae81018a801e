"""`fullgraph registry`: list, search, compare and download registries."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from fullgraph.commands._output import deliver, format_option

if TYPE_CHECKING:
    from fullgraph.registry.entries import Snapshot


def _progress(message: str) -> None:
    click.echo(message, err=True)


_release_option: Callable[[Any], Any] = click.option(
    "--release",
    metavar="RELEASE",
    help="Release such as 2.15 (downloaded if needed), name of a downloaded registry, file, "
    "checkout or URL; the installed torch by default.",
)


@click.group()
def command() -> None:
    """List, search, compare and download the graph-break registries of torch releases."""


@command.command("list")
@click.option(
    "--category", metavar="CATEGORY", help="Only entries of this category; all by default."
)
@_release_option
@click.option(
    "--live/--retired",
    "live",
    default=None,
    help="Only entries that this torch can raise, or no longer raises; both by default.",
)
@format_option("entries")
def list_entries(
    category: str | None, release: str | None, live: bool | None, format_: str
) -> None:
    """List the entries with status, first release and category."""
    from fullgraph.registry.pages import rows
    from fullgraph.registry.sources import all_histories, snapshot_named
    from fullgraph.registry.taxonomy import category_named

    if category is not None:
        category_named(category)
    snapshot = snapshot_named(release, _progress)
    if live is not None:
        _require_source(snapshot)
    shown = [
        row
        for row in rows(snapshot, all_histories([snapshot]))
        if category in (None, row.category) and live in (None, row.live)
    ]
    listed = f"of the {len(snapshot.entries)} of torch {snapshot.release}"
    deliver("entries", shown, format_, widest=None, listed=listed)


@command.command("search")
@_release_option
@click.argument("words", nargs=-1, required=True)
@click.option("--most", default=20, show_default=True, help="Maximum number of results.")
@format_option("entries")
def search_entries(words: tuple[str, ...], release: str | None, most: int, format_: str) -> None:
    """Find entries by words, best match first."""
    from fullgraph.registry.match import Matcher
    from fullgraph.registry.pages import row
    from fullgraph.registry.search import search
    from fullgraph.registry.sources import all_histories, snapshot_named

    query = " ".join(words)
    snapshot = snapshot_named(release, _progress)
    exact = [
        candidate.id
        for match in Matcher(snapshot.entries).find(query)
        for candidate in match.candidates
    ]
    ids = list(dict.fromkeys([*exact, *search(snapshot.entries, query, most)]))[:most]
    histories = all_histories([snapshot])
    found = [row(each, snapshot, histories) for each in ids]
    deliver("entries", found, format_, widest=None, listed=f"for {query!r}")


@command.command("show")
@click.argument("identifier", metavar="ID")
@format_option("entry")
def show_entry(identifier: str, format_: str) -> None:
    """Show one entry, like `fullgraph explain ID`."""
    from fullgraph.errors import RegistryError
    from fullgraph.registry.entries import identifier_in
    from fullgraph.registry.pages import Library

    known = identifier_in(identifier)
    if known is None:
        raise RegistryError(
            f"{identifier!r} is not an id such as GB0124; explain a text with fullgraph explain"
        )
    deliver("entry", Library().page(known), format_)


@command.command("diff")
@click.argument("earlier")
@click.argument("later")
@format_option("release_diff")
def diff_releases(earlier: str, later: str, format_: str) -> None:
    """Show what is new, reworded and retired between two releases.

    EARLIER and LATER are releases such as 2.13, files, checkouts, URLs, or names of downloaded
    registries.
    """
    from fullgraph.registry.diff import difference
    from fullgraph.registry.sources import all_histories, snapshot_named

    before, after = snapshot_named(earlier, _progress), snapshot_named(later, _progress)
    found = difference(before, after, all_histories([before, after]))
    deliver("release_diff", found, format_, widest=None)


@command.command("sync")
@click.option(
    "--releases",
    metavar="RELEASES",
    help="Such as 2.15, 2.8..2.15 or 2.9.0,2.15; the newest by default.",
)
@click.option(
    "--from",
    "source",
    metavar="SOURCE",
    help="Registry file, http(s) URL, PyTorch checkout or wheel instead of a release.",
)
@click.option(
    "--as",
    "name",
    default="",
    metavar="NAME",
    help="Name for SOURCE; latest or its version by default.",
)
@click.option(
    "--facts",
    metavar="FOLDER",
    help="Also write the facts of each release, without texts, to FOLDER.",
)
@click.option("--check", is_flag=True, help="Write no facts; fail if a file in FOLDER is stale.")
@format_option("synced_releases")
def sync(
    releases: str | None,
    source: str | None,
    name: str,
    facts: str | None,
    check: bool,
    format_: str,
) -> None:
    """Download registries, for use without a network.

    Releases come from the package index that pip is configured for. If the index supports it, only
    the needed parts of a wheel are downloaded.
    """
    from fullgraph.errors import RegistryError
    from fullgraph.registry.sources import Releases, sync_source

    if source is not None and releases is not None:
        raise RegistryError("--releases and --from are two different sources; use one of them")
    if check and facts is None:
        raise RegistryError("--check compares with the files of --facts FOLDER; name the folder")
    if source is not None:
        snapshots = [sync_source(source, name, _progress)]
    elif name:
        raise RegistryError("--as names a source; add --from SOURCE")
    else:
        # An older fullgraph may have written the cache; facts must not come from it.
        snapshots = Releases(_progress, fresh=facts is not None).sync(releases)
    deliver("synced_releases", snapshots, format_)
    if facts is not None:
        _write_facts(snapshots, facts, check)


@command.command("audit")
@_release_option
@format_option("audit")
@click.option(
    "--all", "show_all", is_flag=True, help="Show all entries, not only the first 12 of each list."
)
def audit_registry(release: str | None, format_: str, show_all: bool) -> None:
    """Show what the registry lacks: hints, readable text, call sites, entries."""
    from fullgraph.registry.audit import audit
    from fullgraph.registry.sources import read_again, snapshot_named

    found = audit(read_again(snapshot_named(release, _progress)))
    top = {"top": None} if show_all else {}
    deliver("audit", found, format_, widest=None, **top)


def _write_facts(snapshots: list[Snapshot], folder: str, check: bool) -> None:
    from pathlib import Path

    from fullgraph.errors import RegistryError
    from fullgraph.files import replace_file
    from fullgraph.registry.history import facts_file, facts_of

    stale = []
    for snapshot in snapshots:
        file = Path(folder) / f"{snapshot.release}.json"
        content = facts_file(facts_of(snapshot))
        if check and (not file.is_file() or file.read_bytes() != content):
            stale.append(str(file))
        elif not check:
            replace_file(file, [content])
    if stale:
        raise RegistryError(f"stale: {', '.join(stale)}; run again without --check")


def _require_source(snapshot: Snapshot) -> None:
    from fullgraph.errors import RegistryError

    if snapshot.sites is None:
        raise RegistryError(
            f"{snapshot.release} has no torch source code, so live entries are unknown; "
            "use a release or a checkout"
        )

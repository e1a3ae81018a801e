from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import click

from fullgraph.commands._terminal import format_option, terminal_size, write_json, write_lines

if TYPE_CHECKING:
    from fullgraph.registry.audit import Audit, AuditedEntry
    from fullgraph.registry.diff import Difference
    from fullgraph.registry.entries import Snapshot
    from fullgraph.registry.pages import Row

_MOST_ROWS = 12


def _tell(message: str) -> None:
    click.echo(message, err=True)


_table_option: Callable[[Any], Any] = click.option(
    "--format",
    "format_",
    type=click.Choice(["table", "json"]),
    default="table",
    show_default=True,
)
_release_option: Callable[[Any], Any] = click.option(
    "--release",
    metavar="RELEASE",
    help="A release such as 2.15 (fetched if it is not here), the name of a registry that was "
    "synced, a file, a checkout or an address. The installed torch by default.",
)


@click.group()
def command() -> None:
    """Every graph break that torch knows, in every release."""


@command.command("list")
@click.option("--category", metavar="CATEGORY", help="Only entries of this kind.")
@_release_option
@click.option(
    "--live/--retired", "live", default=None, help="Only those that do, or do not, exist."
)
@_table_option
def list_entries(
    category: str | None, release: str | None, live: bool | None, format_: str
) -> None:
    """List the entries, with their state and their kind."""
    from fullgraph.registry.pages import rows
    from fullgraph.registry.sources import chronicle, snapshot_named

    if category is not None:
        _check_category(category)
    snapshot = snapshot_named(release, _tell)
    if live is not None:
        _require_source(snapshot)
    shown = [
        row
        for row in rows(snapshot, chronicle([snapshot]))
        if category in (None, row.category) and live in (None, row.live)
    ]
    _show_rows(shown, format_, f"of the {len(snapshot.entries)} of torch {snapshot.release}")


@command.command("search")
@_release_option
@click.argument("words", nargs=-1, required=True)
@click.option("--most", default=20, show_default=True, help="How many to show.")
@_table_option
def search_entries(words: tuple[str, ...], release: str | None, most: int, format_: str) -> None:
    """Find entries by words; the best come first."""
    from fullgraph.registry.match import Matcher
    from fullgraph.registry.pages import row
    from fullgraph.registry.search import search
    from fullgraph.registry.sources import chronicle, snapshot_named

    query = " ".join(words)
    snapshot = snapshot_named(release, _tell)
    exact = [
        candidate.id
        for found in Matcher(snapshot.entries).find(query)
        for candidate in found.candidates
    ]
    ids = list(dict.fromkeys([*exact, *search(snapshot.entries, query, most)]))[:most]
    story = chronicle([snapshot])
    _show_rows([row(each, snapshot, story) for each in ids], format_, f"for {query!r}")


@command.command("show")
@click.argument("identifier", metavar="ID")
@format_option
def show_entry(identifier: str, format_: str) -> None:
    """Show one entry: the same as `fullgraph explain ID`."""
    from fullgraph.commands.explain import show_page
    from fullgraph.errors import RegistryError
    from fullgraph.registry.entries import identifier_in
    from fullgraph.registry.pages import Library

    known = identifier_in(identifier)
    if known is None:
        raise RegistryError(
            f"{identifier!r} is not an id such as GB0124; a text is explained by fullgraph explain"
        )
    show_page(Library().page(known), format_)


@command.command("diff")
@click.argument("earlier")
@click.argument("later")
@format_option
def diff_releases(earlier: str, later: str, format_: str) -> None:
    """Say what is new, reworded and retired between two releases.

    EARLIER and LATER are releases such as 2.13, files, checkouts, addresses, or names of
    registries that were synced.
    """
    from fullgraph.registry.diff import difference
    from fullgraph.registry.sources import chronicle, snapshot_named

    before, after = snapshot_named(earlier, _tell), snapshot_named(later, _tell)
    found = difference(before, after, chronicle([before, after]))
    if format_ == "json":
        write_json(found)
    else:
        _show_difference(found)


@command.command("sync")
@click.option(
    "--releases", metavar="RELEASES", help="2.15, 2.8..2.15 or 2.9.0,2.15; the newest by default."
)
@click.option(
    "--from",
    "source",
    metavar="SOURCE",
    help="A registry file, an http(s) address, a PyTorch checkout or a wheel.",
)
@click.option("--as", "name", default="", metavar="NAME", help="The name to keep SOURCE under.")
@click.option(
    "--facts",
    metavar="FOLDER",
    help="Write what is known about each release, without wording, to FOLDER.",
)
@click.option("--check", is_flag=True, help="Write nothing; fail if a file in FOLDER is stale.")
@format_option
def sync(
    releases: str | None,
    source: str | None,
    name: str,
    facts: str | None,
    check: bool,
    format_: str,
) -> None:
    """Fetch registries and keep them, to be looked at without a network.

    A release comes from the package index that pip is configured for; only the parts of its
    wheel that are needed are transferred where the index allows that.
    """
    from fullgraph.errors import RegistryError
    from fullgraph.registry.sources import Releases, sync_source

    if source is not None and releases is not None:
        raise RegistryError("--releases and --from are two different sources: name one of them")
    if check and facts is None:
        raise RegistryError("--check compares with the files of --facts FOLDER: name the folder")
    if source is not None:
        snapshots = [sync_source(source, name, _tell)]
    elif name:
        raise RegistryError("--as names a source: say which with --from")
    else:
        # What was kept may have been read by an older fullgraph; facts must not come from that.
        snapshots = Releases(_tell, fresh=facts is not None).sync(releases)
    _show_synced(snapshots, format_)
    if facts is not None:
        _write_facts(snapshots, facts, check)


@command.command("audit")
@_release_option
@format_option
@click.option("--all", "show_all", is_flag=True, help="Show every entry, not only the first ones.")
def audit_registry(release: str | None, format_: str, show_all: bool) -> None:
    """Say what is missing: hints, readable text, call sites, entries."""
    from fullgraph.registry.audit import audit
    from fullgraph.registry.sources import read_again, snapshot_named

    found = audit(read_again(snapshot_named(release, _tell)))
    if format_ == "json":
        write_json(found)
    else:
        _show_audit(found, show_all)


# Showing


def _show_rows(rows: list[Row], format_: str, of_what: str) -> None:
    if format_ == "json":
        write_json(rows)
        return
    from fullgraph.render.entry._page import row_lines
    from fullgraph.terminal import Terminal

    write_lines(row_lines(rows, Terminal(*terminal_size())))
    count = f"{len(rows)} {'entry' if len(rows) == 1 else 'entries'}"
    write_lines(["", f"{count} {of_what}"] if rows else [f"no entry {of_what}"])


def _show_difference(found: Difference) -> None:
    from fullgraph.render.entry._page import row_lines
    from fullgraph.terminal import Terminal

    terminal = Terminal(*terminal_size())
    counts = [f"{len(found.new)} new", f"{len(found.reworded)} reworded"]
    if found.retired is not None and found.revived is not None:
        counts += [f"{len(found.retired)} retired", f"{len(found.revived)} revived"]
    write_lines([f"{found.earlier} → {found.later}: {', '.join(counts)}"])
    if found.retired is None:
        write_lines(["what was retired is unknown: one of them came without torch's source"])
    for title, rows in (
        (f"new in {found.later}", found.new),
        ("retired: no call raises them any more", found.retired or ()),
        ("revived: raised again", found.revived or ()),
    ):
        if rows:
            write_lines(["", terminal.style(title, "bold"), *row_lines(rows, terminal)])
    if found.reworded:
        write_lines(["", terminal.style("reworded", "bold")])
    for each in found.reworded:
        was = f" (was: {each.earlier_type})" if "type" in each.changed else ""
        write_lines(
            terminal.wrapped(
                f"{each.type}{was}  [{', '.join(each.changed)}]", f"{each.id}  ", " " * 8
            )
        )


def _show_synced(snapshots: Iterable[Snapshot], format_: str) -> None:
    rows = [
        {
            "release": each.release,
            "entries": len(each.entries),
            "live": None if each.sites is None else len(each.sites),
            "calls_without_entry": None if each.sites is None else len(each.unmapped),
            "origin": each.origin,
        }
        for each in snapshots
    ]
    if format_ == "json":
        write_json(rows)
        return
    for row in rows:
        live = "no source to tell which are live"
        if row["live"] is not None:
            live = f"{row['live']} live; calls without an entry: {row['calls_without_entry']}"
        write_lines([f"{row['release']:<10}  {row['entries']} entries, {live}"])


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
        raise RegistryError(f"stale: {', '.join(stale)}; run the same without --check")


def _show_audit(found: Audit, show_all: bool) -> None:
    from fullgraph.terminal import Terminal

    terminal = Terminal(*terminal_size())
    live = "" if found.live is None else f", {found.live} of them live"
    write_lines([f"torch {found.release}: {found.entries} entries{live}"])
    if found.calls_without_entry is None:
        write_lines(["what is live is unknown: this registry came without torch's source"])
    calls = [
        f"{call.file}:{call.line}  {call.function}()  {call.type}"
        for call in found.calls_without_entry or ()
    ]
    for title, lines in (
        ("calls that raise a break without an entry", calls),
        ("entries that no call raises", _audited(found.without_call_site or ())),
        ("entries without a hint", _audited(found.without_hints)),
        ("entries without an explanation", _audited(found.without_explanation)),
        ("texts that are only known when the break happens", _audited(found.unevaluated)),
        ("types that several entries have or had", _audited(found.shared_types)),
    ):
        write_lines(["", terminal.style(f"{len(lines):>4}  {title}", "bold")])
        shown = lines if show_all else lines[:_MOST_ROWS]
        write_lines(terminal.clipped(f"      {line}") for line in shown)
        if len(lines) > len(shown):
            write_lines([f"      {len(lines) - len(shown)} more with --all"])


def _audited(entries: Iterable[AuditedEntry]) -> list[str]:
    return [
        f"{each.id}  {each.type}" + (f"  ({each.detail})" if each.detail else "")
        for each in entries
    ]


# Bad input


def _check_category(category: str) -> None:
    from difflib import get_close_matches

    from fullgraph.errors import RegistryError
    from fullgraph.registry.taxonomy import CATEGORIES

    names = [each.name for each in CATEGORIES]
    if category not in names:
        near = get_close_matches(category, names, n=1)
        hint = f"did you mean {near[0]}?" if near else f"there are: {', '.join(names)}"
        raise RegistryError(f"there is no category {category!r}; {hint}")


def _require_source(snapshot: Snapshot) -> None:
    from fullgraph.errors import RegistryError

    if snapshot.sites is None:
        raise RegistryError(
            f"{snapshot.release} came without torch's source, so nobody can say what is live: "
            "sync a release or a checkout instead"
        )

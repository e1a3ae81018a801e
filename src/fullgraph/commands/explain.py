from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from fullgraph.commands._terminal import format_option, terminal_size, write_json, write_lines

if TYPE_CHECKING:
    from fullgraph.registry.match import Found
    from fullgraph.registry.pages import Library, Page

# A longer log is read up to here: the breaks in it repeat.
_LONGEST = 4_000_000


@click.command()
@format_option
@click.argument("what", nargs=-1, metavar="[ID | TEXT | -]")
def command(what: tuple[str, ...], format_: str) -> None:
    """Explain a graph break: what it is, why, and the ways out.

    Takes an id (GB0124), or any text that torch wrote: an error, a log, a part of one, or the
    address of its page. Text can also be piped in. Without anything, the kinds of breaks are
    listed.
    """
    text = _given(what)
    if not text.strip():
        _categories(format_)
        return
    from fullgraph.registry.entries import identifier_in
    from fullgraph.registry.pages import Library

    library = Library()
    identifier = identifier_in(text)
    if identifier is not None:
        show_page(library.page(identifier), format_)
        return
    _explain_text(text, library, format_)


def _given(what: tuple[str, ...]) -> str:
    if what and what != ("-",):
        return " ".join(what)
    if not what and sys.stdin.isatty():
        return ""
    text = sys.stdin.buffer.read(_LONGEST).decode(errors="replace")
    if len(text) == _LONGEST:
        click.echo(f"only the first {_LONGEST // 10**6} MB are looked at", err=True)
    return text


def show_page(page: Page, format_: str) -> None:
    """One entry, with its example from the catalog where there is one."""
    from fullgraph.catalog.parse import read_example

    example = read_example(page.id)
    if format_ == "json":
        import msgspec

        shown = example.as_json() if example else None
        write_json({**msgspec.to_builtins(page), "example": shown})
        return
    from fullgraph.render.entry._page import page_lines
    from fullgraph.render.example.text import example_lines
    from fullgraph.terminal import Terminal

    terminal = Terminal(*terminal_size())
    write_lines(page_lines(page, terminal))
    if example is not None:
        write_lines(["", *example_lines(example, terminal)])


def _explain_text(text: str, library: Library, format_: str) -> None:
    found = _find(text, library)
    if not found:
        raise _nothing_found(text, library)
    message = " ".join(text.split()) if len(found) == 1 else ""
    pages = {
        candidate.id: library.page(candidate.id, message)
        for each in found
        for candidate in each.candidates
    }
    if format_ == "json":
        _write_matches(found, pages)
    else:
        _show_matches(found, pages)


def _find(text: str, library: Library) -> tuple[Found, ...]:
    """In the installed registry; in others only what that one does not know."""
    from fullgraph.registry.match import Matcher

    found = Matcher(library.main.entries).find(text)
    for snapshot in library.others if not found else []:
        found = Matcher(snapshot.entries).find(text)
        if found:
            break
    return found


def _nothing_found(text: str, library: Library) -> Exception:
    from fullgraph.errors import RegistryError
    from fullgraph.registry.message_templates import readable_type
    from fullgraph.registry.search import search

    entries = library.main.entries
    near = search(entries, text[:2000], most=3)
    shown = ", ".join(f"{each} ({readable_type(entries[each][0].type)})" for each in near)
    return RegistryError(
        "no entry of the registry fits this text"
        + (f"; the nearest by their words are {shown}" if shown else "")
    )


def _write_matches(found: tuple[Found, ...], pages: dict[str, Page]) -> None:
    """The best entry as for an id, and with it everything that the text can be about."""
    import msgspec

    best = found[0].candidates[0].id
    matches = [
        {
            "ambiguous": each.ambiguous,
            "candidates": [
                {
                    "id": candidate.id,
                    "type": pages[candidate.id].type,
                    "found_by": candidate.by,
                    "wording": candidate.wording,
                }
                for candidate in each.candidates
            ],
        }
        for each in found
    ]
    write_json({**msgspec.to_builtins(pages[best]), "matches": matches})


def _show_matches(found: tuple[Found, ...], pages: dict[str, Page]) -> None:
    from fullgraph.render.entry._page import page_lines
    from fullgraph.terminal import Terminal

    terminal = Terminal(*terminal_size())
    if len(found) > 1:
        write_lines([f"This text is about {len(found)} breaks; the first is mostly the cause.", ""])
    for number, each in enumerate(found):
        if number:
            write_lines(["", "─" * min(terminal.width, 80), ""])
        best = pages[each.candidates[0].id]
        if each.ambiguous:
            by = each.candidates[0].by
            write_lines(
                [f"Its {by} fits {len(each.candidates)} entries; the first is shown in full."]
            )
            for candidate in each.candidates:
                page = pages[candidate.id]
                write_lines([terminal.clipped(f"  {page.id}  {page.type}")])
            write_lines([""])
        write_lines(page_lines(best, terminal))


def _categories(format_: str) -> None:
    from collections import Counter

    from fullgraph.registry.pages import rows
    from fullgraph.registry.sources import chronicle, require_installed
    from fullgraph.registry.taxonomy import CATEGORIES

    snapshot = require_installed()
    counts = Counter(row.category for row in rows(snapshot, chronicle()))
    if format_ == "json":
        write_json(
            [
                {"category": each.name, "title": each.title, "entries": counts[each.name]}
                for each in CATEGORIES
            ]
        )
        return
    widest = max(len(each.name) for each in CATEGORIES)
    write_lines(
        [
            f"The {len(snapshot.entries)} breaks that torch {snapshot.release} knows, by kind:",
            "",
            *(f"{counts[e.name]:>5}  {e.name:<{widest}}  {e.title}" for e in CATEGORIES),
            "",
            "fullgraph explain GB0124 explains one, as does any text that torch wrote;",
            f"fullgraph registry list --category {CATEGORIES[0].name} lists one kind.",
        ]
    )

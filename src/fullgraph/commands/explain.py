"""`fullgraph explain`: a graph break, a category or a fixer in plain words."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from fullgraph.commands._ai import ends_with_130, explain_options, refuse_without_ai
from fullgraph.commands._output import deliver, format_option

if TYPE_CHECKING:
    from fullgraph.registry.match import Found
    from fullgraph.registry.pages import Library
    from fullgraph.render.categories import CategoryCounts

# Longer logs are cut here: the breaks in a log repeat.
_LONGEST = 4_000_000


# What only `--ai` uses.
_WITH_MODEL = (
    "model", "session", "show_prompt", "no_source", "output", "timeout", "max_tokens", "max_cost",
)  # fmt: skip


@click.command()
@format_option("entry", "matches", "category", "categories", "fixer", "explanation")
@explain_options
@click.argument("what", nargs=-1, metavar="[ID | CATEGORY | FIXER | TEXT | -]")
@click.pass_context
def command(
    context: click.Context, /, what: tuple[str, ...], format_: str, with_model: bool, **options: Any
) -> None:
    """Explain a graph break: what it is, why it happens, and how to fix it.

    Takes an id (GB0124), a category (data-dependent), a fixer of fullgraph fix (branch_to_where),
    or any text of torch: an error message, a log, a part of one, or the URL of a page. Text can
    also be piped in. Without an argument, the categories are listed.

    With --ai, a language model explains the break at FILE:LINE of a program that was captured with
    fullgraph run, an id or a message. What it claims is checked as far as possible.
    """
    text = _given(what)
    if with_model:
        from fullgraph.commands._ai import explain_with_model

        with ends_with_130():
            explain_with_model(text, format_=format_, **options)
        return
    refuse_without_ai(context, _WITH_MODEL)
    if not text.strip():
        deliver("categories", _counted_categories(), format_)
        return
    from fullgraph.registry.entries import identifier_in
    from fullgraph.registry.pages import Library
    from fullgraph.registry.taxonomy import category_named, is_category

    if is_category(text.strip()):
        deliver("category", category_named(text.strip()), format_)
        return
    library = Library()
    identifier = identifier_in(text)
    if identifier is not None:
        deliver("entry", library.page(identifier), format_)
    elif not _explain_fixer(text.strip(), format_):
        _explain_text(text, library, format_)


def _given(what: tuple[str, ...]) -> str:
    if what and what != ("-",):
        return " ".join(what)
    if not what and sys.stdin.isatty():
        return ""
    text = sys.stdin.buffer.read(_LONGEST).decode(errors="replace")
    if len(text) == _LONGEST:
        click.echo(f"only the first {_LONGEST // 10**6} MB are read", err=True)
    return text


def _explain_fixer(name: str, format_: str) -> bool:
    """Write the page of a fixer; return whether there is a fixer of this name."""
    from fullgraph.fix.declarations import declarations

    if name not in {each.name for each in declarations()}:
        return False
    from fullgraph.fix.fixers._pages import fixer_page

    deliver("fixer", fixer_page(name), format_)
    return True


def _explain_text(text: str, library: Library, format_: str) -> None:
    from fullgraph.render.matches import Matches

    found = _find(text, library)
    if not found:
        raise _nothing_found(text, library)
    message = " ".join(text.split()) if len(found) == 1 else ""
    pages = {
        candidate.id: library.page(candidate.id, message)
        for each in found
        for candidate in each.candidates
    }
    deliver("matches", Matches(found, pages), format_)


def _find(text: str, library: Library) -> tuple[Found, ...]:
    """Return the breaks in a text; other registries are searched if the installed has none."""
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

    name = _similar_name(text.strip())
    if name:
        return RegistryError(
            f"there is no fixer or category {text.strip()!r}; did you mean {name}?"
        )
    entries = library.main.entries
    near = search(entries, text[:2000], most=3)
    shown = ", ".join(f"{each} ({readable_type(entries[each][0].type)})" for each in near)
    remedy = (
        f"use the id of one with fullgraph explain, the most similar are {shown}"
        if shown
        else "paste all lines of the message, or see fullgraph registry list"
    )
    return RegistryError(f"no registry entry matches this text; {remedy}")


def _similar_name(text: str) -> str:
    """Return the fixer or the category whose name is nearly this word; empty without one."""
    from difflib import get_close_matches

    from fullgraph.fix.declarations import declarations
    from fullgraph.registry.taxonomy import CATEGORIES

    names = [fixer.name for fixer in declarations()] + [each.name for each in CATEGORIES]
    # Names of fixers have underscores and those of categories have hyphens.
    by_word = {name.replace("-", "_"): name for name in names}
    word = text.lower().replace("-", "_")
    near = get_close_matches(word, by_word, n=1, cutoff=0.8) if len(word) < 80 else []
    return by_word[near[0]] if near else ""


def _counted_categories() -> CategoryCounts:
    from collections import Counter

    from fullgraph.registry.pages import rows
    from fullgraph.registry.sources import all_histories, require_installed
    from fullgraph.render.categories import CategoryCounts

    snapshot = require_installed()
    counts = Counter(row.category for row in rows(snapshot, all_histories()))
    return CategoryCounts(snapshot.release, counts)

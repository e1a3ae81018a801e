"""The pages of fixers, from their docstrings and examples: for `fullgraph explain` and the site."""

from __future__ import annotations

from msgspec import Struct

from fullgraph.fix.declarations import Declaration, declarations
from fullgraph.fix.fixers._cases import Case, examples_of
from fullgraph.model.fix_kinds import Kind, Safety

# The sections of a fixer's docstring, in this order.
SECTIONS = ("What it does", "Why it breaks", "Safety", "Not applied when")


class FixerPage(Struct, frozen=True):
    """What a user reads about one fixer."""

    name: str
    title: str
    kind: Kind
    safety: Safety
    summary: str
    # The heading and the text of each section, as Markdown.
    sections: tuple[tuple[str, str], ...]
    ids: tuple[str, ...]
    categories: tuple[str, ...]
    examples: tuple[Case, ...]


def fixer_pages() -> tuple[FixerPage, ...]:
    """Return the pages of all fixers, by name."""
    return tuple(_page(each) for each in sorted(declarations(), key=lambda each: each.name))


def fixer_page(name: str) -> FixerPage | None:
    """Return the page of a fixer; None if there is no fixer of this name."""
    found = [each for each in declarations() if each.name == name]
    return _page(found[0]) if found else None


def _page(fixer: Declaration) -> FixerPage:
    summary, *paragraphs = fixer.about.strip().split("\n\n")
    return FixerPage(
        name=fixer.name,
        title=fixer.title,
        kind=fixer.kind,
        safety=fixer.safety,
        summary=" ".join(summary.split()),
        sections=tuple(_sections(paragraphs)),
        ids=tuple(each for each in fixer.ids if each),
        categories=fixer.categories,
        examples=tuple(examples_of(fixer.name)),
    )


def _sections(paragraphs: list[str]) -> list[tuple[str, str]]:
    """Group paragraphs under the headings that start them."""
    found: list[tuple[str, str]] = []
    for paragraph in paragraphs:
        text = " ".join(paragraph.split())
        heading, separator, rest = text.partition(": ")
        if separator and heading in SECTIONS:
            found.append((heading, rest[:1].upper() + rest[1:]))
        elif found:
            found[-1] = (found[-1][0], f"{found[-1][1]}\n\n{text}")
    return found

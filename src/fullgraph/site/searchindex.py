"""Build the index of the search, as a script that works from files too.

The index has two kinds of entries: breaks, whose texts recognize a pasted message, and other pages
(lessons, fixers, categories, documentation, information about ids that no release has).
`search_words.toml` adds the words of people who search.
"""

from __future__ import annotations

import re
import textwrap
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from keyword import kwlist
from pathlib import Path
from typing import Any

from msgspec import Struct, convert, json

from fullgraph.catalog.parse import Example
from fullgraph.guide.lesson import Lesson
from fullgraph.site.code_blocks import code_change
from fullgraph.site.labels import STATUS, capital, first_sentence, sentence
from fullgraph.site.met_often import prior_of
from fullgraph.site.model import BreakPage, CategoryPage, SiteData, fixer_path, lesson_path
from fullgraph.site.pages.manual import manual_groups
from fullgraph.site.placeholders import PLACEHOLDER, words_for

WORDS = Path(__file__).parent / "search_words.toml"

# The order that the script expects.
_FIXABLE = ("yes", "sometimes", "no")
_WORD = re.compile(r"[^\W\d]\w+")
# Markers for text of torch, such as `{{GB0170.type}}`.
_MARKER = re.compile(r"\{\{[^}]*\}\}")
# In a title such as "`time.monotonic`, `time.sleep`": messages have only the last part of a name.
_FUNCTION = re.compile(r"(\w+)`")
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
# In code, these say nothing.
_OF_ALL_CODE = frozenset([*map(str.lower, kwlist), "breaks", "nn", "self", "torch"])
# A very long contributed text must not make the index large.
_MOST_WORDS = 400
# A word that more of the other pages have does not tell them apart.
_MOST_PAGES = 8
# How many lines of a fix a card shows.
_MOST_LINES = 4


class SearchWords(Struct, frozen=True, forbid_unknown_fields=True):
    """The content of `search_words.toml`."""

    # Words that count only in a query that has no other words.
    common: str
    # Words that never count in prose.
    stop: str
    # Other spellings of a word, on pages as in queries.
    same: dict[str, str]
    # What a word or a phrase of a query can also mean.
    means: dict[str, str]
    # By path of a page, without `.html`: the words of people who look for it.
    pages: dict[str, str]


@cache
def search_words() -> SearchWords:
    """Return the words of people who search."""
    return convert(tomllib.loads(WORDS.read_text(encoding="utf-8")), SearchWords)


class _Table:
    """Stores each text once and numbers it."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._numbers: dict[str, int] = {}

    def number(self, text: str) -> int:
        """Return the number of a text."""
        if text not in self._numbers:
            self._numbers[text] = len(self.texts)
            self.texts.append(text)
        return self._numbers[text]


def index_of(site: SiteData) -> dict[str, Any]:
    """Return the index. Entries are lists, because field names would repeat hundreds of times."""
    texts = _Table()
    categories = [category.name for category in site.categories]
    words = search_words()
    prior = prior_of(site)
    return {
        "releases": [release.release for release in site.releases],
        "categories": categories,
        "titles": [category.title for category in site.categories],
        "statuses": list(STATUS),
        "fixable": list(_FIXABLE),
        "common": words.common.split(),
        "stop": words.stop.split(),
        "same": words.same,
        "means": words.means,
        "entries": [
            [
                *_entry(site.breaks[identifier], categories, texts),
                words.pages.get(f"gb/{identifier.lower()}", ""),
                prior.get(identifier, 0),
            ]
            for identifier in sorted(site.breaks)
        ],
        "pages": [[*page, words.pages.get(page[1], "")] for page in _without_usual(_pages(site))],
        "texts": texts.texts,
        "placeholders": _placeholders(site),
    }


def _placeholders(site: SiteData) -> dict[str, str]:
    """Return words for the placeholders that results can show."""
    texts = (text for each in site.breaks.values() for text in (each.page.type, sentence(each)))
    names = {match[1] for text in texts for match in PLACEHOLDER.finditer(text)}
    return {name: words_for(name) for name in sorted(names)}


def _entry(each: BreakPage, categories: list[str], texts: _Table) -> list[Any]:
    page = each.page
    return [
        each.id,
        page.type,
        page.explanation,
        page.context,
        [texts.number(hint) for hint in page.hints],
        [
            [wording.type, wording.explanation, [texts.number(hint) for hint in wording.hints]]
            for wording in page.earlier_wordings
        ],
        first_sentence(each.example.how)[0] if each.example else "",
        categories.index(page.category) if page.category in categories else -1,
        list(STATUS).index(each.status),
        each.marks,
        _FIXABLE.index(page.fixable) if page.fixable in _FIXABLE else -1,
        int(each.example is not None),
        _words_of(_code(each), _OF_ALL_CODE),
        _words_of([each.info.markdown]) if each.info else "",
    ]


def _code(each: BreakPage) -> Iterator[str]:
    """Yield the code of the examples, and of their texts what results do not show."""
    for example in each.examples:
        yield example.breaks
        yield first_sentence(example.how)[1] if example == each.example else example.how


def fixes_of(site: SiteData) -> dict[str, list[Any]]:
    """Return by id what a recognized error needs: how to fix it, the first lines that change, the
    fixers for it, since when torch does not raise it, and its variants.

    It is separate from the index, because most searches do not need it.
    """
    return {identifier: _card(each) for identifier, each in sorted(site.breaks.items())}


def _card(each: BreakPage) -> list[Any]:
    # Fixers for all of a category may not be for this break.
    fixers = " ".join(fixer.name for fixer in each.fixers) if each.fixers_by_id else ""
    gone = each.page.gone_since or ""
    advice = each.page.how_to_fix[0].text if each.page.how_to_fix else ""
    if each.variants:
        # Which of the examples is meant depends on the function that the message names.
        return [advice, "", fixers, gone, [_variant(example) for example in each.examples]]
    text, lines = _fix(each.example) if each.example else ("", "")
    return [text or advice, lines, fixers, gone]


def _variant(example: Example) -> list[str]:
    """Return the functions that a variant is about, a sentence, and its fix."""
    functions = " ".join(_FUNCTION.findall(example.title))
    return [functions, first_sentence(example.how)[0], *_fix(example)]


def _fix(example: Example) -> tuple[str, str]:
    """Return how to fix an example in a sentence, and the first lines that change."""
    if not example.fixes:
        return example.instead, ""
    first = example.fixes[0]
    taken, put = code_change(example.breaks, first.source, first.name)
    lines = [f"-{line}" for line in _some(taken)] + [f"+{line}" for line in _some(put)]
    return first.why, "\n".join(lines)


def _some(lines: list[str]) -> list[str]:
    """Return the first of the lines, without the indentation that they share."""
    shown = textwrap.dedent("\n".join(lines)).split("\n") if lines else []
    return [*shown[:_MOST_LINES], *(["…"] if len(shown) > _MOST_LINES else [])]


def _pages(site: SiteData) -> Iterator[list[str]]:
    """Yield the pages that are not about one break: kind, path, title, summary, headings, words."""
    for lesson in site.lessons:
        yield _lesson(lesson)
    for fixer in site.fixers:
        body = [text for _, text in fixer.sections] + [case.code for case in fixer.examples]
        yield [
            "fixer", _bare(fixer_path(fixer.name)), capital(fixer.title), fixer.summary, fixer.name,
            _words_of(body, _OF_ALL_CODE),
        ]  # fmt: skip
    for category in site.categories:
        if any(each in site.breaks for each in category.breaks):
            yield _category(category)
    for info in site.orphans:
        summary = "No known release has this id. Somebody has written about it."
        words = _words_of([info.markdown], _OF_ALL_CODE)
        yield ["note", _bare(info.path), "Additional information", summary, info.id, words]
    for group in manual_groups():
        for link in group.links:
            # Commands are found by their names, which are the titles.
            yield ["docs", _bare(link.path), link.title, link.summary, group.title, ""]


def _without_usual(pages: Iterable[list[str]]) -> Iterator[list[str]]:
    """Yield the pages without the words that many of them have, which say little."""
    found = list(pages)
    having = Counter(word for page in found for word in page[-1].split())
    for *others, words in found:
        yield [*others, " ".join(word for word in words.split() if having[word] <= _MOST_PAGES)]


def _lesson(lesson: Lesson) -> list[str]:
    text = "\n".join(part.text for part in lesson.parts if part.kind == "text")
    headings = [*_HEADING.findall(text), *lesson.topics]
    code = [part.text for part in lesson.parts if part.kind == "code"]
    words = _words_of([_MARKER.sub(" ", text), *code], _OF_ALL_CODE)
    path = _bare(lesson_path(lesson.id))
    return ["lesson", path, lesson.title, lesson.summary, " ".join(headings), words]


def _category(category: CategoryPage) -> list[str]:
    headings = " ".join(_HEADING.findall(category.text))
    words = _words_of([category.text], _OF_ALL_CODE)
    title = capital(category.title)
    return ["category", _bare(category.path), title, category.advice, headings, words]


def _bare(path: str) -> str:
    return path.removesuffix(".html")


def _words_of(texts: Iterable[str], without: frozenset[str] = frozenset()) -> str:
    """Return the different words of texts, sorted, because that compresses well."""
    stop = {*search_words().stop.split(), *without}
    found = dict.fromkeys(word.lower() for text in texts for word in _WORD.findall(text))
    return " ".join(sorted([word for word in found if word not in stop][:_MOST_WORDS]))


def script_of(name: str, data: dict[str, Any]) -> bytes:
    """Return data as a script that sets a global name; no text in it can end the script or start a
    comment."""
    text = json.encode(data).decode()
    for character, written in (("<", "\\u003c"), ("\u2028", "\\u2028"), ("\u2029", "\\u2029")):
        text = text.replace(character, written)
    return f"window.{name} = {text};\n".encode()

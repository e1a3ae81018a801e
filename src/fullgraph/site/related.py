"""Find breaks that a reader of one page may be looking for instead."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator

from fullgraph.registry.pages import Page
from fullgraph.site.model import Related

_MOST = 6
# Minimum similarity of the words of two entries, from 0 to 1; the nearest may have less.
_ALIKE = 0.3
_SOMEWHAT_ALIKE = 0.1
_FEW = 3
# A word that this share of the entries has is not specific.
_TOO_COMMON = 10
# Nor is a word that more entries have: comparing them all would take minutes in a large registry.
_MOST_HOLDERS = 80
_WORD = re.compile(r"[A-Za-z_]\w+")


def related_breaks(pages: Iterable[Page]) -> dict[str, tuple[Related, ...]]:
    """Return the most similar entries: same type, same raising function, or similar words."""
    worded = sorted((page for page in pages if page.category), key=lambda page: page.id)
    by_id = {page.id: page for page in worded}
    types = _grouped((page.type.lower(), page.id) for page in worded)
    functions = _grouped((key, page.id) for page in worded for key in _functions(page))
    words = _Words(worded)

    def reasons(page: Page) -> Iterator[tuple[str, str]]:
        for other in types[page.type.lower()]:
            yield other, "the same type"
        for key in _functions(page):
            for other in functions[key]:
                yield other, f"also raised in {key[1]}()"
        for other in words.alike(page):
            yield other, "similar words"

    found = {}
    for page in worded:
        shown: dict[str, str] = {}
        # The rest is not looked at: in a large registry, thousands share a function.
        for other, why in reasons(page):
            if other != page.id:
                shown.setdefault(other, why)
            if len(shown) == _MOST:
                break
        found[page.id] = tuple(
            Related(other, by_id[other].type, why) for other, why in shown.items()
        )
    return found


def _grouped(pairs: Iterable[tuple[object, str]]) -> dict[object, list[str]]:
    groups: dict[object, list[str]] = {}
    for key, identifier in pairs:
        groups.setdefault(key, []).append(identifier)
    return groups


def _functions(page: Page) -> Iterator[tuple[str, str]]:
    """Return the functions that raise a break; the top level of a file is no function."""
    seen = set()
    for place in page.call_sites or page.earlier_call_sites:
        key = (place.file, place.function)
        if place.function and key not in seen:
            seen.add(key)
            yield key


class _Words:
    """Compares entries of one category by their words; rare words count more."""

    def __init__(self, pages: list[Page]) -> None:
        found = {page.id: _words_of(page) for page in pages}
        counts = Counter(word for words in found.values() for word in words)
        often = min(len(pages) / _TOO_COMMON, _MOST_HOLDERS)
        self._weights = {word: math.log(len(pages) / n) for word, n in counts.items() if n <= often}
        self._words = {
            each: [word for word in words if word in self._weights] for each, words in found.items()
        }
        self._lengths = {
            each: sum(self._weights[word] for word in words) for each, words in self._words.items()
        }
        self._holders = _grouped(
            ((page.category, word), page.id) for page in pages for word in self._words[page.id]
        )

    def alike(self, page: Page) -> list[str]:
        """Return the entries with similar words, most similar first."""
        shared: dict[str, float] = {}
        for word in self._words[page.id]:
            weight = self._weights[word]
            for other in self._holders[page.category, word]:
                shared[other] = shared.get(other, 0.0) + weight
        own = self._lengths[page.id]
        scored = [
            (-weight / math.sqrt(own * self._lengths[other]), other)
            for other, weight in shared.items()
            if other != page.id
        ]
        return [
            other
            for rank, (score, other) in enumerate(sorted(scored))
            if -score >= (_SOMEWHAT_ALIKE if rank < _FEW else _ALIKE)
        ]


def _words_of(page: Page) -> list[str]:
    """Return each word once, sorted: a sum of floats depends on the order."""
    return sorted({word.lower() for word in _WORD.findall(f"{page.type} {page.explanation}")})

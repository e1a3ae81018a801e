"""Find entries by words."""

from __future__ import annotations

import math
import re
from collections import Counter

from fullgraph.registry.entries import Wording
from fullgraph.registry.message_templates import readable

_WORD = re.compile(r"[a-z0-9_]{2,}")
# Weights: a word in the type, in other fields, or inside a longer word.
_IN_TYPE, _IN_REST, _INSIDE_WORD = 4.0, 1.0, 0.4


def search(entries: dict[str, tuple[Wording, ...]], query: str, most: int = 20) -> list[str]:
    """Return the ids of the entries that contain words of the query, best first.

    Entries with all words come before entries with some of them.
    """
    wanted = list(dict.fromkeys(_words(query)))
    documents = {identifier: _document(wordings) for identifier, wordings in entries.items()}
    having = Counter(word for types, rest in documents.values() for word in {*types, *rest})
    scored = []
    for identifier, (types, rest) in documents.items():
        scores = [_score(word, types, rest, having, len(entries)) for word in wanted]
        found = sum(score > 0 for score in scores)
        if found:
            scored.append((found, sum(scores), identifier))
    scored.sort(key=lambda each: (-each[0], -each[1], each[2]))
    if not scored:
        return []
    # If an entry contains all words, entries with fewer words are not results.
    enough = scored[0][0] if scored[0][0] == len(wanted) else max(1, scored[0][0] - 1)
    return [identifier for found, _, identifier in scored[:most] if found >= enough]


def _words(text: str) -> list[str]:
    words = []
    for word in _WORD.findall(text.lower()):
        words += [word, *(part for part in word.split("_") if len(part) > 2 and part != word)]
    return words


def _document(wordings: tuple[Wording, ...]) -> tuple[set[str], set[str]]:
    types = {word for wording in wordings for word in _words(wording.type)}
    newest = wordings[0]
    texts = (readable(newest.explanation), newest.context, *newest.hints)
    return types, {word for text in texts for word in _words(text)}


def _score(word: str, types: set[str], rest: set[str], having: Counter[str], entries: int) -> float:
    rarity = math.log(1 + entries / (1 + having[word]))
    if word in types:
        return _IN_TYPE * rarity
    if word in rest:
        return _IN_REST * rarity
    if any(word in each for each in types):
        return _INSIDE_WORD * _IN_TYPE
    return 0.0

"""Find the registry entry that a pasted text is about.

Terminals wrap lines, logs add prefixes, and people paste only a part of a message. Therefore, the
comparison ignores white space, and prefixes of logs and terminals are removed first. A complete
message (a type, then `Explanation:`) is found by its type alone, so values in it cannot mislead.
Other texts are searched for types, then for explanations, hints and contexts.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from itertools import accumulate, pairwise

from msgspec import Struct

from fullgraph.registry.entries import Wording
from fullgraph.registry.message_templates import joined_hints, literals, readable, readable_type

# How an entry was found, the most reliable first.
BY_ID = "id"
BY_LINK = "link"
BY_TYPE = "type"
BY_EXPLANATION = "explanation"
BY_HINT = "hint"
BY_CONTEXT = "context"

_COLOR = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|[\u200b\ufeff]")
# Prefixes of quoted text, of pytest tracebacks and of boxes.
_MARGIN = re.compile(r"^[ \t]*(?:[>|│┃#][ \t]?|E {2,})+", re.MULTILINE)
# `[rank0]:V1116 00:01:58.989000 4463 torch/_dynamo/x.py:1759] [5/0] [__graph_breaks] ` without
# white space. A path may be long because lines wrap.
_PREFIX = re.compile(
    r"(?:\[rank\d+\]:)?[VIWEDC]\d{4}\d\d:\d\d:\d\d\.\d{3,6}\d+[^\]\[]{1,300}?:\d+\]"
    r"(?:\[[\w./!-]{1,40}\])*"
)
_ID = re.compile(r"(?<![A-Za-z0-9])GB(\d{4})(?!\d)", re.IGNORECASE)
_LINK = re.compile(r"/gb/?gb(\d{4})\.html", re.IGNORECASE)
_FIELD = "Explanation:"
_NEXT = "***Whilehandlingthisgraphbreak,anothergraphbreakoccurred:***"
_OPERATOR = re.compile(r"HigherOrderOperator:.{1,120}?$")
# Shorter fixed text occurs in too many entries.
_SHORTEST = 16
_SHORTEST_TYPE = 6


_Texts = Callable[[Wording], Iterable[str]]


class Candidate(Struct, frozen=True):
    """An entry that a text may be about, and how it was found."""

    id: str
    # Index of the wording that was found, 0 for the newest.
    wording: int
    by: str


class Found(Struct, frozen=True):
    """One break in a text. Several candidates mean that the text fits all of them."""

    candidates: tuple[Candidate, ...]

    @property
    def ambiguous(self) -> bool:
        """True if several entries fit."""
        return len(self.candidates) > 1


class _Form(Struct, frozen=True):
    """One wording of one entry, prepared for comparison."""

    id: str
    wording: int
    pieces: tuple[str, ...]


class Matcher:
    """Finds the entries of one registry in texts. Indexes are built on first use."""

    def __init__(self, entries: dict[str, tuple[Wording, ...]]) -> None:
        self._entries = entries

    def find(self, text: str) -> tuple[Found, ...]:
        """Return the breaks that a text is about, in order; empty if no entry fits."""
        compact = _CompactText(text)
        found = [
            each
            for start, end in _messages(compact.text)
            for each in self._in_message(compact, start, end)
        ]
        return tuple(dict.fromkeys(found)) or self._by_id(text)

    def _by_id(self, text: str) -> tuple[Found, ...]:
        known = [f"GB{match[1]}" for match in _ID.finditer(text)]
        known += [f"GB{match[1]}" for match in _LINK.finditer("".join(text.split()))]
        return tuple(
            Found((Candidate(identifier, 0, BY_ID),))
            for identifier in dict.fromkeys(known)
            if identifier in self._entries
        )

    def _in_message(self, compact: _CompactText, start: int, end: int) -> Iterator[Found]:
        field = compact.text.find(_FIELD, start, end)
        if field < 0:
            yield from self._in_prose(compact, start, end)
            return
        operator = _OPERATOR.search(compact.text, start, field)
        rest = compact.text[field:end]
        candidates = (
            self._ending(compact, start, field)
            or (self._ending(compact, start, operator.start()) if operator else ())
            or self._by_words(rest)
            or self._linked(rest)
        )
        if candidates:
            yield Found(self._best_fitting(candidates, rest))

    def _in_prose(self, compact: _CompactText, start: int, end: int) -> Iterator[Found]:
        """Yield the breaks in a part of a message, or in a text that mentions types."""
        types = list(self._types_in(compact, start, end))
        text = compact.text[start:end]
        words = self._by_words(text)
        named = {each.id for candidates in types for each in candidates}
        # An explanation can contain the type of another entry.
        mentions = bool(words) and words[0].by == BY_EXPLANATION and len(types) == 1
        if mentions and named.isdisjoint(each.id for each in words):
            types = []
        for candidates in types or [words or self._linked(text)]:
            if candidates:
                yield Found(self._best_fitting(candidates, text))

    # Types

    @cached_property
    def _types(self) -> dict[str, tuple[Candidate, ...]]:
        """Return the entries for each type without white space, newest wordings first."""
        found: dict[str, dict[str, Candidate]] = {}
        for identifier, wordings in self._entries.items():
            for number, wording in enumerate(wordings):
                known = found.setdefault("".join(wording.type.split()), {})
                known.setdefault(identifier, Candidate(identifier, number, BY_TYPE))
        return {
            type_: tuple(sorted(known.values(), key=lambda candidate: candidate.wording > 0))
            for type_, known in found.items()
        }

    @cached_property
    def _open_types(self) -> list[tuple[re.Pattern[str], tuple[Candidate, ...]]]:
        """Return patterns for types that contain a value."""
        found: list[tuple[re.Pattern[str], tuple[Candidate, ...]]] = []
        for identifier, wordings in self._entries.items():
            for number, wording in enumerate(wordings):
                # A type that consists of a value only would match everything.
                if "{" in wording.type and any(literals(type_ := readable_type(wording.type))):
                    candidates = (Candidate(identifier, number, BY_TYPE),)
                    found.append((re.compile(_pattern(type_)), candidates))
        return found

    def _ending(self, compact: _CompactText, start: int, end: int) -> tuple[Candidate, ...]:
        """Return the longest type that ends where the fields begin."""
        longest = max(map(len, self._types), default=0)
        for begin in range(max(start, end - longest), end):
            type_ = compact.text[begin:end]
            if type_ in self._types and compact.is_boundary(begin):
                return self._types[type_]
        for pattern, candidates in self._open_types:
            if re.search(rf"(?:{pattern.pattern})$", compact.text[max(start, end - 400) : end]):
                return candidates
        return ()

    def _types_in(
        self, compact: _CompactText, begin: int, stop: int
    ) -> Iterator[tuple[Candidate, ...]]:
        """Yield the types in a text, in order; of two that overlap, the longer."""
        text = compact.text
        hits = []
        for type_, candidates in self._types.items():
            start = text.find(type_, begin, stop) if len(type_) >= _SHORTEST_TYPE else -1
            while start >= 0:
                end = start + len(type_)
                if compact.is_boundary(start) and compact.is_boundary(end):
                    hits.append((start, end, candidates))
                start = text.find(type_, end, stop)
        for pattern, candidates in self._open_types:
            hits += [(*match.span(), candidates) for match in pattern.finditer(text, begin, stop)]
        reached = 0
        for start, end, candidates in sorted(hits, key=lambda hit: (hit[0], -hit[1])):
            if start >= reached:
                reached = end
                yield candidates

    # Other fields

    def _by_words(self, text: str) -> tuple[Candidate, ...]:
        """Return the entries whose explanation, context or own hint fits the text."""
        for by, forms in (
            (BY_EXPLANATION, self._explanations),
            (BY_HINT, self._hints),
            (BY_CONTEXT, self._contexts),
        ):
            best: dict[str, tuple[int, Candidate]] = {}
            for form in forms:
                if not _in_order(form.pieces, text):
                    continue
                weight = sum(map(len, form.pieces))
                if weight > best.get(form.id, (0,))[0]:
                    best[form.id] = (weight, Candidate(form.id, form.wording, by))
            if best:
                most = max(weight for weight, _ in best.values())
                return tuple(each for weight, each in best.values() if weight == most)
        return ()

    @cached_property
    def _explanations(self) -> list[_Form]:
        return list(self._forms(lambda wording: [wording.explanation]))

    @cached_property
    def _hints(self) -> list[_Form]:
        """Return the hints that only one entry has."""
        forms = list(self._forms(lambda wording: joined_hints(wording.hints)))
        owners: dict[tuple[str, ...], set[str]] = {}
        for form in forms:
            owners.setdefault(form.pieces, set()).add(form.id)
        return [form for form in forms if len(owners[form.pieces]) == 1]

    @cached_property
    def _contexts(self) -> list[_Form]:
        return list(self._forms(lambda wording: [wording.context]))

    def _forms(self, texts: _Texts) -> Iterator[_Form]:
        for identifier, wordings in self._entries.items():
            for number, wording in enumerate(wordings):
                for text in texts(wording):
                    pieces = _pieces(text)
                    if max(map(len, pieces), default=0) >= _SHORTEST:
                        yield _Form(identifier, number, pieces)

    def _linked(self, text: str) -> tuple[Candidate, ...]:
        return tuple(
            Candidate(f"GB{match[1]}", 0, BY_LINK)
            for match in _LINK.finditer(text)
            if f"GB{match[1]}" in self._entries
        )[:1]

    def _best_fitting(self, candidates: tuple[Candidate, ...], text: str) -> tuple[Candidate, ...]:
        """Return those of several entries with one type whose other fields fit best."""
        if len(candidates) < 2:
            return candidates
        scores = {each: self._fit(each, text) for each in candidates}
        best = max(scores.values())
        kept = tuple(each for each in candidates if scores[each] == best)
        linked = {each.id for each in self._linked(text)}
        return tuple(each for each in kept if each.id in linked) or kept

    def _fit(self, candidate: Candidate, text: str) -> int:
        """Return how many characters of some wording of the entry are in the text."""
        return max(
            sum(
                len(piece)
                for field in (wording.explanation, wording.context, *wording.hints)
                if _in_order(pieces := _pieces(field), text)
                for piece in pieces
            )
            for wording in self._entries[candidate.id]
        )


class _CompactText:
    """A text without white space and without prefixes of logs and terminals."""

    def __init__(self, text: str) -> None:
        words = _MARGIN.sub("", _COLOR.sub("", text)).split()
        self.text = "".join(words)
        self._starts = {0, *accumulate(map(len, words))}
        prefixes = [match.span() for match in _PREFIX.finditer(self.text)]
        if prefixes:
            self._cut(prefixes)

    def _cut(self, spans: list[tuple[int, int]]) -> None:
        """Remove spans. A word can begin after a removed span, because it ended a prefix."""
        parts, starts, position, length = [], set(), 0, 0
        ordered = sorted(self._starts)
        for start, end in [*spans, (len(self.text), len(self.text))]:
            parts.append(self.text[position:start])
            inside = ordered[bisect_left(ordered, position) : bisect_left(ordered, start)]
            starts |= {length, *(each - position + length for each in inside)}
            length += start - position
            position = end
        self.text = "".join(parts)
        self._starts = starts

    def is_boundary(self, position: int) -> bool:
        """Check whether a word can begin or end here."""
        if position in self._starts or not 0 < position < len(self.text):
            return True
        return not (self.text[position - 1].isalnum() and self.text[position].isalnum())


def _messages(text: str) -> Iterator[tuple[int, int]]:
    """Yield the span of each break: from one `Explanation:` or announcement to the next."""
    starts = [0, *(match.end() for match in re.finditer(re.escape(_NEXT), text))]
    ends = [*(match.start() for match in re.finditer(re.escape(_NEXT), text)), len(text)]
    for start, end in zip(starts, ends, strict=True):
        yield from _split_fields(text, start, end)


def _split_fields(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the spans of the messages in a log, which has one message after the other."""
    fields = [match.start() for match in re.finditer(_FIELD, text[start:end])]
    cut = start
    for first, second in pairwise(fields):
        between = text[start + first : start + second]
        # A value can contain the word `Explanation:`, so look for the last field of a message.
        tail = max(
            (match.end() for match in re.finditer(r"Developerdebugcontext:", between)), default=-1
        )
        if tail >= 0:
            yield cut, start + first + tail
            cut = start + first + tail
    yield cut, end


def _pieces(text: str) -> tuple[str, ...]:
    return tuple(piece for part in literals(readable(text)) if (piece := "".join(part.split())))


def _in_order(pieces: Iterable[str], text: str) -> bool:
    position = 0
    any_piece = False
    for piece in pieces:
        position = text.find(piece, position)
        if position < 0:
            return False
        position += len(piece)
        any_piece = True
    return any_piece


def _pattern(type_: str) -> str:
    pieces = ["".join(part.split()) for part in literals(type_)]
    return ".{1,200}?".join(map(re.escape, pieces))

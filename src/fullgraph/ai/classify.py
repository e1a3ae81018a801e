"""The model's category for each entry of the registry, next to ours."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from msgspec import Struct

from fullgraph.ai.answer import json_in
from fullgraph.ai.asking import Questions, Usage
from fullgraph.ai.errors import NoAnswerError
from fullgraph.ai.prompts import fenced, instructions
from fullgraph.ai.protocol import Prompt
from fullgraph.registry.entries import Snapshot
from fullgraph.registry.message_templates import readable, readable_type
from fullgraph.registry.taxonomy import CATEGORIES, category_of

FORMAT = 1
# Entries in one question: enough to be cheap, few enough that none is forgotten.
BATCH = 40
_LONGEST = 400
_FORM = {
    "type": "object",
    "properties": {
        "categories": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"id": {"type": "string"}, "category": {"type": "string"}},
                "required": ["id", "category"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["categories"],
    "additionalProperties": False,
}


class Entry(Struct, frozen=True):
    """One entry of the registry with our category."""

    id: str
    type: str
    explanation: str
    ours: str


class Sorted(Struct, frozen=True):
    """One entry with both categories. `model` is empty if the model left it out."""

    id: str
    type: str
    ours: str
    model: str
    # Whether there is a category of this name.
    known: bool

    @property
    def agrees(self) -> bool:
        """Whether both categories are the same."""
        return self.ours == self.model


class CategoryCount(Struct, frozen=True):
    """How often the model agrees with one of our categories."""

    category: str
    entries: int
    agree: int


class Comparison(Struct, frozen=True):
    """The result of `fullgraph ai classify`."""

    release: str
    entries: tuple[Sorted, ...]
    usage: Usage

    @property
    def agreeing(self) -> int:
        """How many entries have the same category twice."""
        return sum(each.agrees for each in self.entries)

    @property
    def by_category(self) -> tuple[CategoryCount, ...]:
        """The counts for each of our categories that has entries."""
        total = Counter(each.ours for each in self.entries)
        agree = Counter(each.ours for each in self.entries if each.agrees)
        names = [each.name for each in CATEGORIES if total[each.name]]
        return tuple(CategoryCount(name, total[name], agree[name]) for name in names)


def entries_of(snapshot: Snapshot, identifiers: Sequence[str] = ()) -> list[Entry]:
    """Return the entries of a registry, or those with some ids, with our categories."""
    wanted = identifiers or sorted(snapshot.entries)
    found = []
    for identifier in wanted:
        newest = snapshot.entries[identifier][0]
        type_, explanation = readable_type(newest.type), readable(newest.explanation)
        found.append(Entry(identifier, type_, explanation, category_of(type_, explanation)))
    return found


def classify(
    snapshot: Snapshot,
    entries: Sequence[Entry],
    questions: Questions,
    progress: Callable[[str], None] = lambda step: None,
) -> Comparison:
    """Ask for the categories of the entries, some at a time, and compare them with ours."""
    found: list[Sorted] = []
    for batch in _batches(entries):
        progress(f"{len(found)} of {len(entries)} entries")
        reply, used = questions.ask(classify_prompt(batch))
        given = _categories_in(reply.text, used.model)
        found += [_sorted(entry, given.get(entry.id, "")) for entry in batch]
    return Comparison(snapshot.release, tuple(found), questions.usage)


def _batches(entries: Sequence[Entry]) -> Iterator[list[Entry]]:
    rest = iter(entries)
    while batch := list(islice(rest, BATCH)):
        yield batch


def classify_prompt(entries: Sequence[Entry]) -> Prompt:
    """Return the prompt for some entries; it does not say which categories we chose."""
    chosen = instructions("classify")
    categories = "\n".join(f"{each.name}: {each.title}. {each.advice}" for each in CATEGORIES)
    listed = "\n".join(
        f"{each.id}  {each.type}\n    {_short(each.explanation)}" for each in entries
    )
    user = "\n\n".join(
        ["Sort these graph breaks.", fenced("categories", categories), fenced("breaks", listed)]
    )
    return Prompt(chosen.label, chosen.text, user, _FORM)


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} …"


def _categories_in(text: str, model: str) -> dict[str, str]:
    given = json_in(text, model).get("categories")
    if isinstance(given, dict):
        given = [{"id": key, "category": value} for key, value in given.items()]
    if not isinstance(given, list):
        raise NoAnswerError(
            f"{model} did not answer in the form that was asked for: `categories` is missing; ask "
            "again, or ask another model"
        )
    pairs = [(each.get("id"), each.get("category")) for each in given if isinstance(each, dict)]
    return {one.upper(): other.strip() for one, other in pairs
            if isinstance(one, str) and isinstance(other, str)}  # fmt: skip


def _sorted(entry: Entry, category: str) -> Sorted:
    known = category in {each.name for each in CATEGORIES}
    return Sorted(entry.id, entry.type, entry.ours, category, known)

"""The page of every entry that the chosen registry or any known release has."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from msgspec.structs import replace

from fullgraph.registry.entries import Snapshot
from fullgraph.registry.history import Chronicle
from fullgraph.registry.pages import (
    Library,
    Page,
    Row,
    page,
    page_without_text,
    row,
    row_without_text,
    shared_hints,
)
from fullgraph.registry.sources import with_texts

# In place of the type of an entry of which no registry at hand has the text.
NO_WORDING = "Wording not at hand"


class Text(NamedTuple):
    page: Page
    row: Row


def all_texts(snapshot: Snapshot, story: Chronicle) -> dict[str, Text]:
    """By id, in order. What the snapshot lacks comes from other registries at hand, if it can."""
    found = dict(_texts(snapshot, snapshot.entries, story))
    missing = story.ids() - set(found)
    for other in _others(snapshot) if missing else ():
        here = missing & set(other.entries)
        found |= _texts(other, here, story)
        missing -= here
    found |= {identifier: _without_text(identifier, story) for identifier in missing}
    return dict(sorted(found.items()))


def _texts(snapshot: Snapshot, ids: Iterable[str], story: Chronicle) -> Iterable[tuple[str, Text]]:
    # The chosen release stands for the installed one: a site does not depend on who builds it.
    own = snapshot if snapshot.sites is not None else None
    shared = shared_hints(snapshot)
    for identifier in ids:
        yield (
            identifier,
            Text(
                page(identifier, snapshot, story, own, shared=shared),
                row(identifier, snapshot, story),
            ),
        )


def _others(snapshot: Snapshot) -> list[Snapshot]:
    library = Library()
    at_hand = [*([library.installed] if library.installed else []), *library.others]
    return [with_texts(other) for other in at_hand if other.release != snapshot.release]


def _without_text(identifier: str, story: Chronicle) -> Text:
    history = story.history(identifier)
    assert history is not None  # the id comes from there
    bare = replace(page_without_text(identifier, history, story), type=NO_WORDING)
    return Text(bare, row_without_text(bare))

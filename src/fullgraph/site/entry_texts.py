"""Collect the page of every entry of the chosen registry and of all known releases."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from msgspec.structs import replace

from fullgraph.registry.entries import Snapshot
from fullgraph.registry.history import EntryHistories
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

# Shown instead of the type if no available registry has the text of an entry.
NO_WORDING = "Description not available"


class Text(NamedTuple):
    """The page of an entry and its row in lists."""

    page: Page
    row: Row


def all_texts(snapshot: Snapshot, histories: EntryHistories) -> dict[str, Text]:
    """Return the texts by id; texts that the snapshot lacks come from other registries."""
    found = dict(_texts(snapshot, snapshot.entries, histories))
    missing = histories.ids() - set(found)
    for other in _others(snapshot) if missing else ():
        here = missing & set(other.entries)
        found |= _texts(other, here, histories)
        missing -= here
    found |= {identifier: _without_text(identifier, histories) for identifier in missing}
    return dict(sorted(found.items()))


def _texts(
    snapshot: Snapshot, ids: Iterable[str], histories: EntryHistories
) -> Iterable[tuple[str, Text]]:
    # The chosen release is treated as installed: a site must not depend on the machine.
    own = snapshot if snapshot.sites is not None else None
    shared = shared_hints(snapshot)
    for identifier in ids:
        yield (
            identifier,
            Text(
                page(identifier, snapshot, histories, own, shared=shared),
                row(identifier, snapshot, histories),
            ),
        )


def _others(snapshot: Snapshot) -> list[Snapshot]:
    library = Library()
    at_hand = [*([library.installed] if library.installed else []), *library.others]
    return [with_texts(other) for other in at_hand if other.release != snapshot.release]


def _without_text(identifier: str, histories: EntryHistories) -> Text:
    history = histories.history(identifier)
    assert history is not None  # The id comes from this history.
    bare = replace(page_without_text(identifier, history, histories), type=NO_WORDING)
    return Text(bare, row_without_text(bare))

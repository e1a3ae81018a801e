"""Assemble everything known about an entry, for display and for JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Set

from msgspec import Struct

from fullgraph.errors import RegistryError
from fullgraph.registry import cache
from fullgraph.registry.entries import CallSite, Snapshot, SourceText, Wording, wording_checksum
from fullgraph.registry.history import EntryHistories, History, ReleaseStatus
from fullgraph.registry.message_templates import (
    is_unevaluated,
    joined_hints,
    lacks_text,
    readable,
    readable_type,
)
from fullgraph.registry.releases import sort_key
from fullgraph.registry.sources import (
    all_histories,
    cached_names,
    installed_snapshot,
    no_registry_error,
    source_text,
)
from fullgraph.registry.taxonomy import advice_for, category_of, fixability_of, title_of

_SITE = "https://meta-pytorch.github.io/compile-graph-break-site/gb"
# A hint that this many entries share is not specific to any of them.
_SHARED_BY = 8
_MOST_EXPLANATIONS = 4
# How texts name the costs of a fix.
COSTS = {
    "one line": "one line",
    "local rewrite": "a local rewrite",
    "restructure": "restructuring",
}


class Advice(Struct, frozen=True):
    """One piece of advice about fixing a break."""

    text: str
    # `fullgraph` or `torch`.
    source: str


class EarlierWording(Struct, frozen=True):
    """A text that the entry had before."""

    type: str
    explanation: str
    hints: tuple[str, ...]
    # The releases in which it was the newest wording; empty if it was never released.
    releases: tuple[str, ...]


class Place(Struct, frozen=True):
    """A call that raises the break, with its URL."""

    file: str
    line: int
    function: str
    link: str


class Page(Struct, frozen=True):
    """Everything known about one entry."""

    id: str
    type: str
    category: str
    category_title: str
    # Whether a user can fix it (yes, sometimes, no), at what cost, and whether the same program
    # fails in eager mode too.
    fixable: str
    cost: str
    eager_fails: bool
    # In the installed torch; None if there is none.
    live: bool | None
    installed: str | None
    first_release: str | None
    last_release: str | None
    gone_since: str | None
    explanation: str
    how_to_fix: tuple[Advice, ...]
    hints: tuple[str, ...]
    context: str
    # The release of the texts and the call sites.
    release: str
    releases: tuple[ReleaseStatus, ...]
    releases_of_wording: tuple[str, ...]
    earlier_wordings: tuple[EarlierWording, ...]
    call_sites: tuple[Place, ...]
    # Call sites in the newest release that has any, if `release` has none.
    earlier_call_sites: tuple[Place, ...]
    link: str


class Row(Struct, frozen=True):
    """An entry in a list."""

    id: str
    type: str
    category: str
    live: bool | None
    first_release: str | None
    last_release: str | None
    gone_since: str | None
    hints: int
    call_sites: int
    wordings: int


class Library:
    """The available registries: the installed one, then downloaded ones, newest first."""

    def __init__(self) -> None:
        self.installed = installed_snapshot()
        self._histories: EntryHistories | None = None
        self._others: list[Snapshot] | None = None

    @property
    def main(self) -> Snapshot:
        """Return the installed registry, or the newest one that was downloaded."""
        snapshot = self.installed or next(iter(self.others), None)
        if snapshot is None:
            raise no_registry_error()
        return snapshot

    @property
    def others(self) -> list[Snapshot]:
        """Return the downloaded registries, newest first."""
        if self._others is None:
            names = sorted(cached_names(), key=sort_key, reverse=True)
            loaded = [cached.snapshot for name in names if (cached := cache.load(name))]
            mine = self.installed.release if self.installed else ""
            self._others = [snapshot for snapshot in loaded if snapshot.release != mine]
        return self._others

    @property
    def histories(self) -> EntryHistories:
        """Return the histories of all entries."""
        if self._histories is None:
            self._histories = all_histories([self.installed])
        return self._histories

    def page(self, identifier: str, message: str = "") -> Page:
        """Return everything about an entry. `message` is the message it was found in, if any."""
        snapshot = self._holder(identifier)
        if snapshot is None:
            raise self._unknown(identifier)
        return page(identifier, snapshot, self.histories, self.installed, message)

    def _holder(self, identifier: str) -> Snapshot | None:
        if identifier in self.main.entries:
            return self.main
        return next((each for each in self.others if identifier in each.entries), None)

    def _unknown(self, identifier: str) -> RegistryError:
        history = self.histories.history(identifier)
        if history is not None:
            last = history.releases[-1].release
            return RegistryError(
                f"{identifier} is new in torch {history.first_release} and not in yours; download "
                f"its text with fullgraph registry sync --releases {last}"
            )
        from difflib import get_close_matches

        known = self.main.entries
        near = get_close_matches(identifier, known, n=3, cutoff=0.5)
        shown = ", ".join(f"{each} ({readable_type(known[each][0].type)})" for each in near)
        return RegistryError(
            f"no known release has {identifier}" + (f"; the nearest are {shown}" if shown else "")
        )


def page(
    identifier: str,
    snapshot: Snapshot,
    histories: EntryHistories,
    installed: Snapshot | None,
    message: str = "",
    shared: Set[str] | None = None,
) -> Page:
    """Return everything about an entry.

    `shared` are the `shared_hints` of the snapshot; pass them if you make many pages.
    """
    wordings = snapshot.entries[identifier]
    newest = wordings[0]
    history = histories.history(identifier)
    # A message contains values: it distinguishes `print` from other builtins.
    category = category_of(readable_type(newest.type), message or readable(newest.explanation))
    advice = advice_for(category, readable_type(newest.type), message or "")
    own = snapshot.sites.get(identifier, ()) if snapshot.sites else ()
    places = {} if own else histories.sites(identifier)
    last = max(places, key=sort_key) if places else snapshot.release
    added = source_text(identifier, snapshot) if lacks_text(newest) else SourceText()
    hints = joined_hints(newest.hints) or added.hints
    if shared is None:
        shared = shared_hints(snapshot)
    fixability = fixability_of(
        identifier, readable_type(newest.type), hints, readable(newest.explanation)
    )
    return Page(
        id=identifier,
        type=readable_type(newest.type),
        category=category,
        category_title=title_of(category),
        fixable=fixability.fixable,
        cost=fixability.cost,
        eager_fails=fixability.eager_fails,
        live=None if installed is None else bool(installed.is_live(identifier)),
        installed=installed.release if installed else None,
        first_release=history.first_release if history else None,
        last_release=history.last_release if history else None,
        gone_since=history.gone_since if history else None,
        explanation=_explanation(newest, added),
        how_to_fix=_how_to_fix(advice, hints, shared),
        hints=hints,
        context=readable(newest.context),
        release=snapshot.release,
        releases=history.releases if history else (),
        releases_of_wording=histories.releases_worded(identifier, wording_checksum(newest)),
        earlier_wordings=tuple(
            EarlierWording(
                type=readable_type(wording.type),
                explanation=readable(wording.explanation),
                hints=joined_hints(wording.hints),
                releases=histories.releases_worded(identifier, wording_checksum(wording)),
            )
            # A wording that came back is not an earlier one.
            for wording in dict.fromkeys(wordings[1:])
            if wording != newest
        ),
        call_sites=_places(own, snapshot.release),
        earlier_call_sites=_places(places.get(last, ()), last),
        link=f"{_SITE}/{identifier.lower()}.html",
    )


def page_without_text(identifier: str, history: History, histories: EntryHistories) -> Page:
    """Return the page of an entry that only other releases have: its history, without text."""
    places = histories.sites(identifier)
    last = max(places, key=sort_key, default=history.releases[-1].release)
    return Page(
        id=identifier,
        type="",
        category="",
        category_title="",
        fixable="",
        cost="",
        eager_fails=False,
        live=None,
        installed=None,
        first_release=history.first_release,
        last_release=history.last_release,
        gone_since=history.gone_since,
        explanation="",
        how_to_fix=(),
        hints=(),
        context="",
        release=last,
        releases=history.releases,
        releases_of_wording=(),
        earlier_wordings=(),
        call_sites=(),
        earlier_call_sites=_places(places.get(last, ()), last),
        link=f"{_SITE}/{identifier.lower()}.html",
    )


def _explanation(wording: Wording, added: SourceText) -> str:
    """Return the explanation; if the registry has a variable, the texts that it can hold."""
    several = added.explanations
    if not is_unevaluated(wording.explanation) or not several:
        return readable(wording.explanation)
    more = len(several) - _MOST_EXPLANATIONS
    shown = "\nor: ".join(several[:_MOST_EXPLANATIONS])
    return f"{shown}\n(and {more} more)" if more > 0 else shown


def _places(sites: Iterable[CallSite], release: str) -> tuple[Place, ...]:
    return tuple(Place(site.file, site.line, site.function, site.link(release)) for site in sites)


def _how_to_fix(advice: str, hints: tuple[str, ...], shared: Set[str]) -> tuple[Advice, ...]:
    """Return our advice, then torch's hints for this entry, then hints that many entries share."""
    ordered = sorted(hints, key=lambda hint: hint in shared)
    return (
        Advice(advice, "fullgraph"),
        *(Advice(hint, "torch") for hint in ordered),
    )


def shared_hints(snapshot: Snapshot) -> Set[str]:
    """Return the hints that many entries share."""
    newest = (wordings[0] for wordings in snapshot.entries.values())
    counts = Counter(hint.strip() for wording in newest for hint in wording.hints)
    return {hint for hint, count in counts.items() if count >= _SHARED_BY}


def rows(snapshot: Snapshot, histories: EntryHistories) -> list[Row]:
    """Return a row for every entry of a registry, ordered by id."""
    return [row(identifier, snapshot, histories) for identifier in sorted(snapshot.entries)]


def row_without_text(shown: Page) -> Row:
    """Return the row of an entry without text."""
    return Row(
        id=shown.id,
        type=shown.type,
        category=shown.category,
        live=shown.live,
        first_release=shown.first_release,
        last_release=shown.last_release,
        gone_since=shown.gone_since,
        hints=0,
        call_sites=0,
        wordings=0,
    )


def row(identifier: str, snapshot: Snapshot, histories: EntryHistories) -> Row:
    """Return the row of one entry."""
    wordings = snapshot.entries[identifier]
    history: History | None = histories.history(identifier)
    type_ = readable_type(wordings[0].type)
    return Row(
        id=identifier,
        type=type_,
        category=category_of(type_, readable(wordings[0].explanation)),
        live=snapshot.is_live(identifier),
        first_release=history.first_release if history else None,
        last_release=history.last_release if history else None,
        gone_since=history.gone_since if history else None,
        hints=len(joined_hints(wordings[0].hints)),
        call_sites=len((snapshot.sites or {}).get(identifier, ())),
        wordings=len(wordings),
    )

"""Everything there is to say about an entry, put together for showing and for JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Set

from msgspec import Struct

from fullgraph.errors import RegistryError
from fullgraph.registry import cache
from fullgraph.registry.entries import CallSite, Snapshot, SourceText, Wording, wording_checksum
from fullgraph.registry.history import Chronicle, History, ReleaseStatus
from fullgraph.registry.message_templates import (
    is_unevaluated,
    joined_hints,
    lacks_text,
    readable,
    readable_type,
)
from fullgraph.registry.releases import sort_key
from fullgraph.registry.sources import (
    cached_names,
    chronicle,
    installed_snapshot,
    nothing_here,
    source_text,
)
from fullgraph.registry.taxonomy import advice_for, category_of, facts_of, title_of

_SITE = "https://meta-pytorch.github.io/compile-graph-break-site/gb"
# A hint that this many entries share says nothing about any one of them.
_SHARED_BY = 8
_MOST_EXPLANATIONS = 4


class WayOut(Struct, frozen=True):
    text: str
    # Whose advice it is: `fullgraph` or `torch`.
    source: str


class EarlierWording(Struct, frozen=True):
    type: str
    explanation: str
    hints: tuple[str, ...]
    # The releases in which it was the newest; empty if it never was released.
    releases: tuple[str, ...]


class Place(Struct, frozen=True):
    file: str
    line: int
    function: str
    link: str


class Page(Struct, frozen=True):
    id: str
    type: str
    category: str
    category_title: str
    # Whether a user can fix it (yes, sometimes, no), usually at what cost, and whether the same
    # program fails in eager as well.
    fixable: str
    cost: str
    eager_fails: bool
    # In the torch that is installed; None without one.
    live: bool | None
    installed: str | None
    first_release: str | None
    last_release: str | None
    gone_since: str | None
    explanation: str
    ways_out: tuple[WayOut, ...]
    hints: tuple[str, ...]
    context: str
    # The release that the texts and the call sites are from.
    release: str
    releases: tuple[ReleaseStatus, ...]
    releases_of_wording: tuple[str, ...]
    earlier_wordings: tuple[EarlierWording, ...]
    call_sites: tuple[Place, ...]
    # Where the newest release that has any raises it, when `release` does not.
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
    """The registries at hand: the installed one, then those fetched before, newest first."""

    def __init__(self) -> None:
        self.installed = installed_snapshot()
        self._chronicle: Chronicle | None = None
        self._others: list[Snapshot] | None = None

    @property
    def main(self) -> Snapshot:
        snapshot = self.installed or next(iter(self.others), None)
        if snapshot is None:
            raise nothing_here()
        return snapshot

    @property
    def others(self) -> list[Snapshot]:
        if self._others is None:
            names = sorted(cached_names(), key=sort_key, reverse=True)
            loaded = [cached.snapshot for name in names if (cached := cache.load(name))]
            mine = self.installed.release if self.installed else ""
            self._others = [snapshot for snapshot in loaded if snapshot.release != mine]
        return self._others

    @property
    def chronicle(self) -> Chronicle:
        if self._chronicle is None:
            self._chronicle = chronicle([self.installed])
        return self._chronicle

    def page(self, identifier: str, message: str = "") -> Page:
        """Everything about an entry; `message` is the one in which it was met, if it is known."""
        snapshot = self._holder(identifier)
        if snapshot is None:
            raise self._unknown(identifier)
        return page(identifier, snapshot, self.chronicle, self.installed, message)

    def _holder(self, identifier: str) -> Snapshot | None:
        if identifier in self.main.entries:
            return self.main
        return next((each for each in self.others if identifier in each.entries), None)

    def _unknown(self, identifier: str) -> RegistryError:
        history = self.chronicle.history(identifier)
        if history is not None:
            last = history.releases[-1].release
            return RegistryError(
                f"{identifier} came with torch {history.first_release} and is not in yours; its "
                f"text is fetched by: fullgraph registry sync --releases {last}"
            )
        from difflib import get_close_matches

        known = self.main.entries
        near = get_close_matches(identifier, known, n=3, cutoff=0.5)
        shown = ", ".join(f"{each} ({readable_type(known[each][0].type)})" for each in near)
        return RegistryError(
            f"there is no {identifier} in any release that is known"
            + (f"; the nearest are {shown}" if shown else "")
        )


def page(
    identifier: str,
    snapshot: Snapshot,
    story: Chronicle,
    installed: Snapshot | None,
    message: str = "",
    shared: Set[str] | None = None,
) -> Page:
    """`shared` are the snapshot's `shared_hints`, for those who make many pages of it."""
    wordings = snapshot.entries[identifier]
    newest = wordings[0]
    history = story.history(identifier)
    # A message has values where the registry has holes: it can tell `print` from other builtins.
    category = category_of(readable_type(newest.type), message or readable(newest.explanation))
    own = snapshot.sites.get(identifier, ()) if snapshot.sites else ()
    places = {} if own else story.sites(identifier)
    last = max(places, key=sort_key) if places else snapshot.release
    added = source_text(identifier, snapshot) if lacks_text(newest) else SourceText()
    hints = joined_hints(newest.hints) or added.hints
    if shared is None:
        shared = shared_hints(snapshot)
    facts = facts_of(identifier, readable_type(newest.type), hints, readable(newest.explanation))
    return Page(
        id=identifier,
        type=readable_type(newest.type),
        category=category,
        category_title=title_of(category),
        fixable=facts.fixable,
        cost=facts.cost,
        eager_fails=facts.eager_fails,
        live=None if installed is None else bool(installed.is_live(identifier)),
        installed=installed.release if installed else None,
        first_release=history.first_release if history else None,
        last_release=history.last_release if history else None,
        gone_since=history.gone_since if history else None,
        explanation=_explanation(newest, added),
        ways_out=_ways_out(category, hints, shared),
        hints=hints,
        context=readable(newest.context),
        release=snapshot.release,
        releases=history.releases if history else (),
        releases_of_wording=story.releases_worded(identifier, wording_checksum(newest)),
        earlier_wordings=tuple(
            EarlierWording(
                type=readable_type(wording.type),
                explanation=readable(wording.explanation),
                hints=joined_hints(wording.hints),
                releases=story.releases_worded(identifier, wording_checksum(wording)),
            )
            # A wording can come back; then it is not an earlier one.
            for wording in dict.fromkeys(wordings[1:])
            if wording != newest
        ),
        call_sites=_places(own, snapshot.release),
        earlier_call_sites=_places(places.get(last, ()), last),
        link=f"{_SITE}/{identifier.lower()}.html",
    )


def page_without_text(identifier: str, history: History, story: Chronicle) -> Page:
    """An entry that some release had and no registry at hand has: only facts are known."""
    places = story.sites(identifier)
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
        ways_out=(),
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
    """The explanation; where the registry has a variable, what can be in it."""
    several = added.explanations
    if not is_unevaluated(wording.explanation) or not several:
        return readable(wording.explanation)
    more = len(several) - _MOST_EXPLANATIONS
    shown = "\nor: ".join(several[:_MOST_EXPLANATIONS])
    return f"{shown}\n(and {more} more)" if more > 0 else shown


def _places(sites: Iterable[CallSite], release: str) -> tuple[Place, ...]:
    return tuple(Place(site.file, site.line, site.function, site.link(release)) for site in sites)


def _ways_out(category: str, hints: tuple[str, ...], shared: Set[str]) -> tuple[WayOut, ...]:
    """Our advice first, then what torch says about this entry, then what it says about many."""
    ordered = sorted(hints, key=lambda hint: hint in shared)
    return (
        WayOut(advice_for(category), "fullgraph"),
        *(WayOut(hint, "torch") for hint in ordered),
    )


def shared_hints(snapshot: Snapshot) -> Set[str]:
    """Hints that many entries share."""
    newest = (wordings[0] for wordings in snapshot.entries.values())
    counts = Counter(hint.strip() for wording in newest for hint in wording.hints)
    return {hint for hint, count in counts.items() if count >= _SHARED_BY}


def rows(snapshot: Snapshot, story: Chronicle) -> list[Row]:
    """Every entry of a registry, in the order of their ids."""
    return [row(identifier, snapshot, story) for identifier in sorted(snapshot.entries)]


def row_without_text(shown: Page) -> Row:
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


def row(identifier: str, snapshot: Snapshot, story: Chronicle) -> Row:
    wordings = snapshot.entries[identifier]
    history: History | None = story.history(identifier)
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

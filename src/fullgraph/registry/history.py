"""History of every entry over all torch releases, available without a network.

Each release has a file in `facts/`: its entries, a checksum of each wording, and the lines of its
source that raise them. The files contain no text of torch. They are written by
`fullgraph registry sync --facts FOLDER`.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path

from msgspec import Raw, Struct, json

from fullgraph.registry.entries import CallSite, Snapshot, wording_checksum
from fullgraph.registry.releases import sort_key

FACTS_FOLDER = Path(__file__).parent / "facts"


class EntryFacts(Struct, frozen=True, array_like=True, gc=False):
    """Facts about one entry in one release."""

    # Checksum of the newest wording in this release.
    checksum: str
    # Decoded on demand: there are thousands of call sites, and a command shows only a few.
    raw_sites: Raw

    @property
    def live(self) -> bool:
        """True if some call raises the entry."""
        return len(self.raw_sites) > len("[]")

    @property
    def sites(self) -> tuple[CallSite, ...]:
        """Return the calls that raise the entry."""
        return json.decode(self.raw_sites, type=tuple[CallSite, ...])


class Facts(Struct, frozen=True):
    """Facts about all entries of one release."""

    release: str
    checksum: str
    entries: dict[str, EntryFacts]
    unmapped: tuple[CallSite, ...] = ()


class ReleaseStatus(Struct, frozen=True):
    """The status of an entry in one release that has it."""

    release: str
    live: bool
    # True if the text differs from the previous release.
    reworded: bool


class History(Struct, frozen=True):
    """The history of an entry over all known releases."""

    first_release: str
    # The last release in which some call raises it; None if there is none.
    last_release: str | None
    # The first release after that; None while it is live in the newest release.
    gone_since: str | None
    releases: tuple[ReleaseStatus, ...]


def facts_of(snapshot: Snapshot) -> Facts:
    """Return the facts of a registry, without its texts."""
    sites = snapshot.sites or {}
    return Facts(
        release=snapshot.release,
        checksum=snapshot.checksum,
        entries={
            identifier: EntryFacts(
                wording_checksum(wordings[0]), Raw(json.encode(sites.get(identifier, ())))
            )
            for identifier, wordings in sorted(snapshot.entries.items())
        },
        unmapped=tuple(dict.fromkeys(call.site for call in snapshot.unmapped)),
    )


def facts_file(facts: Facts) -> bytes:
    """Return facts as JSON with one line per entry, so that a diff is readable."""
    head = json.encode(
        {
            "release": facts.release,
            "checksum": facts.checksum,
            "unmapped": facts.unmapped,
        }
    )
    rows = [
        json.encode(identifier) + b":" + json.encode(entry)
        for identifier, entry in facts.entries.items()
    ]
    return head[:-1] + b',"entries":{\n' + b",\n".join(rows) + b"\n}}\n"


@cache
def known_facts() -> dict[str, Facts]:
    """Return the facts that come with fullgraph, by release."""
    found = (json.decode(file.read_bytes(), type=Facts) for file in FACTS_FOLDER.glob("*.json"))
    return {facts.release: facts for facts in found}


class EntryHistories:
    """The histories of all entries, computed from the facts of several releases."""

    def __init__(self, facts: Iterable[Facts]) -> None:
        self.facts = sorted(facts, key=lambda each: sort_key(each.release))
        self._histories: dict[str, History | None] = {}

    @property
    def releases(self) -> list[str]:
        """Return all known releases, oldest first."""
        return [facts.release for facts in self.facts]

    def history(self, identifier: str) -> History | None:
        """Return the history of an entry; None if no known release has it."""
        if identifier not in self._histories:
            self._histories[identifier] = self._history(identifier)
        return self._histories[identifier]

    def _history(self, identifier: str) -> History | None:
        statuses: list[ReleaseStatus] = []
        before = ""
        for facts in self.facts:
            entry = facts.entries.get(identifier)
            if entry is None:
                continue
            reworded = bool(statuses) and entry.checksum != before
            before = entry.checksum
            statuses.append(ReleaseStatus(facts.release, entry.live, reworded))
        if not statuses:
            return None
        live = [status.release for status in statuses if status.live]
        last = live[-1] if live else None
        return History(
            first_release=statuses[0].release,
            last_release=last,
            gone_since=self._after(last or statuses[0].release) if last else statuses[0].release,
            releases=tuple(statuses),
        )

    def _after(self, release: str) -> str | None:
        position = self.releases.index(release) + 1
        return self.releases[position] if position < len(self.facts) else None

    def sites(self, identifier: str) -> dict[str, tuple[CallSite, ...]]:
        """Return the call sites of an entry in each release that has any."""
        return {
            facts.release: facts.entries[identifier].sites
            for facts in self.facts
            if identifier in facts.entries and facts.entries[identifier].live
        }

    def releases_worded(self, identifier: str, checksum: str) -> tuple[str, ...]:
        """Return the releases in which this was the newest wording of the entry."""
        return tuple(
            facts.release
            for facts in self.facts
            if identifier in facts.entries and facts.entries[identifier].checksum == checksum
        )

    def ids(self) -> set[str]:
        """Return the ids of all entries that any release has."""
        return {identifier for facts in self.facts for identifier in facts.entries}

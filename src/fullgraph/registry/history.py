"""What is known about every entry in every release, without a network.

Each release has a file of facts in `facts/`: which entries it has, a checksum of each wording,
and where its source raises them. There is no wording in them; that comes with torch. They are
written by `fullgraph registry sync --facts FOLDER`.
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
    # Of the wording that was the newest in this release.
    checksum: str
    # Left as JSON: of thousands of call sites, one command shows a few.
    raw_sites: Raw

    @property
    def live(self) -> bool:
        return len(self.raw_sites) > len("[]")

    @property
    def sites(self) -> tuple[CallSite, ...]:
        return json.decode(self.raw_sites, type=tuple[CallSite, ...])


class Facts(Struct, frozen=True):
    """What one release had, in numbers and places."""

    release: str
    checksum: str
    entries: dict[str, EntryFacts]
    unmapped: tuple[CallSite, ...] = ()


class ReleaseStatus(Struct, frozen=True):
    """An entry in one release. A release that does not have the entry is not listed."""

    release: str
    live: bool
    # Worded differently than in the release before.
    reworded: bool


class History(Struct, frozen=True):
    """An entry over all releases that are known."""

    first_release: str
    # The last one in which some call raises it; None when none ever did.
    last_release: str | None
    # The first one after that; None while it is live in the newest release.
    gone_since: str | None
    releases: tuple[ReleaseStatus, ...]


def facts_of(snapshot: Snapshot) -> Facts:
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
    """One entry a line, so that a change can be read."""
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
    """The facts that come with fullgraph, by release."""
    found = (json.decode(file.read_bytes(), type=Facts) for file in FACTS_FOLDER.glob("*.json"))
    return {facts.release: facts for facts in found}


class Chronicle:
    """The facts of several releases, read as the story of each entry."""

    def __init__(self, facts: Iterable[Facts]) -> None:
        self.facts = sorted(facts, key=lambda each: sort_key(each.release))
        self._histories: dict[str, History | None] = {}

    @property
    def releases(self) -> list[str]:
        return [facts.release for facts in self.facts]

    def history(self, identifier: str) -> History | None:
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
        """The call sites in each release that has any."""
        return {
            facts.release: facts.entries[identifier].sites
            for facts in self.facts
            if identifier in facts.entries and facts.entries[identifier].live
        }

    def releases_worded(self, identifier: str, checksum: str) -> tuple[str, ...]:
        """The releases in which this wording of the entry was the newest."""
        return tuple(
            facts.release
            for facts in self.facts
            if identifier in facts.entries and facts.entries[identifier].checksum == checksum
        )

    def ids(self) -> set[str]:
        return {identifier for facts in self.facts for identifier in facts.entries}

"""Compare each release with the previous one."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from fullgraph.registry.entries import Snapshot, Wording, wording_checksum
from fullgraph.registry.history import FACTS_FOLDER, EntryHistories, Facts, facts_of
from fullgraph.site.model import BreakPage, Change, Release

DATES = FACTS_FOLDER / "dates.toml"
_FIELDS = ("type", "context", "explanation", "hints")


def release_dates() -> dict[str, str]:
    """Return the dates of torch releases in ISO format; releases without a verified date are
    missing."""
    dates: dict[str, str] = tomllib.loads(DATES.read_text(encoding="utf-8"))
    return dates


def all_releases(
    histories: EntryHistories, breaks: Mapping[str, BreakPage], snapshot: Snapshot
) -> tuple[Release, ...]:
    """Return all known releases, newest first."""
    wordings = _Wordings(snapshot)
    dates = release_dates()
    releases = []
    before: Facts | None = None
    for facts in histories.facts:
        date = dates.get(facts.release, "")
        releases.append(_release(facts, before, date, breaks, wordings))
        before = facts
    return tuple(reversed(releases))


def upcoming_release(
    histories: EntryHistories, breaks: Mapping[str, BreakPage], snapshot: Snapshot
) -> Release | None:
    """Return the changes of an unreleased registry since the newest release; None for a release."""
    if snapshot.release in histories.releases or not histories.facts:
        return None
    newest = histories.facts[-1]
    found = _release(facts_of(snapshot), newest, "", breaks, _Wordings(snapshot))
    if snapshot.sites is not None:
        return found
    # Without torch's source code, it is unknown which entries are raised.
    return replace(found, live=_still_live(newest, snapshot), retired=(), revived=())


def _still_live(newest: Facts, snapshot: Snapshot) -> int:
    return sum(each in snapshot.entries for each, entry in newest.entries.items() if entry.live)


def _release(
    facts: Facts,
    before: Facts | None,
    date: str,
    breaks: Mapping[str, BreakPage],
    wordings: _Wordings,
) -> Release:
    now = facts.entries
    then = before.entries if before else {}
    both = sorted(now.keys() & then.keys())

    def changes(ids: Iterable[str]) -> tuple[Change, ...]:
        """Return the changes from one release to the next."""
        return tuple(Change(each, breaks[each].page.type) for each in ids)

    return Release(
        release=facts.release,
        before=before.release if before else None,
        date=date,
        entries=len(now),
        live=sum(entry.live for entry in now.values()),
        new=changes(sorted(now.keys() - then.keys())),
        reworded=tuple(
            Change(
                each,
                breaks[each].page.type,
                wordings.differences(each, then[each].checksum, now[each].checksum),
            )
            for each in both
            if now[each].checksum != then[each].checksum
        ),
        retired=changes(each for each in both if then[each].live and not now[each].live),
        revived=changes(each for each in both if now[each].live and not then[each].live),
        removed=changes(sorted(then.keys() - now.keys())),
    )


class _Wordings:
    """Finds the wordings of a registry by checksum, including earlier ones."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._entries = snapshot.entries

    def differences(self, identifier: str, then: str, now: str) -> tuple[str, ...]:
        """Return the fields that differ between two wordings; empty if one of them is not
        available."""
        by_checksum: dict[str, Wording] = {
            wording_checksum(wording): wording for wording in self._entries.get(identifier, ())
        }
        old, new = by_checksum.get(then), by_checksum.get(now)
        if old is None or new is None:
            return ()
        return tuple(name for name in _FIELDS if getattr(old, name) != getattr(new, name))

"""Compare two registries."""

from __future__ import annotations

from msgspec import Struct

from fullgraph.registry.entries import Snapshot, wording_checksum
from fullgraph.registry.history import EntryHistories
from fullgraph.registry.message_templates import readable_type
from fullgraph.registry.pages import Row, row


class Reworded(Struct, frozen=True):
    """An entry whose text differs between two registries."""

    id: str
    type: str
    earlier_type: str
    # Which of `type`, `context`, `explanation` and `hints` differ.
    changed: tuple[str, ...]


class Difference(Struct, frozen=True):
    """The difference between two registries."""

    earlier: str
    later: str
    new: tuple[Row, ...]
    reworded: tuple[Reworded, ...]
    # Entries that only the earlier release raises; None if a registry has no source code.
    retired: tuple[Row, ...] | None
    # Entries of both that only the later release raises; None as above.
    revived: tuple[Row, ...] | None


def difference(earlier: Snapshot, later: Snapshot, histories: EntryHistories) -> Difference:
    """Return the difference between two registries."""
    new = sorted(set(later.entries) - set(earlier.entries))
    both = sorted(set(later.entries) & set(earlier.entries))
    return Difference(
        earlier=earlier.release,
        later=later.release,
        new=tuple(row(each, later, histories) for each in new),
        reworded=tuple(
            _reworded(each, earlier, later)
            for each in both
            if wording_checksum(earlier.entries[each][0])
            != wording_checksum(later.entries[each][0])
        ),
        retired=_stopped(earlier, later, histories),
        revived=_stopped(later, earlier, histories, only=both),
    )


def _reworded(identifier: str, earlier: Snapshot, later: Snapshot) -> Reworded:
    old, new = earlier.entries[identifier][0], later.entries[identifier][0]
    fields = ("type", "context", "explanation", "hints")
    return Reworded(
        id=identifier,
        type=readable_type(new.type),
        earlier_type=readable_type(old.type),
        changed=tuple(name for name in fields if getattr(old, name) != getattr(new, name)),
    )


def _stopped(
    before: Snapshot, after: Snapshot, histories: EntryHistories, only: list[str] | None = None
) -> tuple[Row, ...] | None:
    """Return the entries that `before` raises and `after` does not; None without source code."""
    if before.sites is None or after.sites is None:
        return None
    gone = set(before.sites) - set(after.sites)
    if only is not None:
        gone &= set(only)
    holders = {each: after if each in after.entries else before for each in gone}
    return tuple(row(each, holders[each], histories) for each in sorted(gone))

"""Find what a registry lacks: hints, readable text, call sites and entries."""

from __future__ import annotations

from msgspec import Struct

from fullgraph.registry.entries import Snapshot
from fullgraph.registry.message_templates import is_unevaluated, joined_hints, readable_type


class AuditedEntry(Struct, frozen=True):
    """One entry in a list of an audit. `detail` says what is wrong with the entry."""

    id: str
    type: str
    detail: str = ""


class CallWithoutEntry(Struct, frozen=True):
    """A call in torch that raises a break without a registry entry."""

    type: str
    file: str
    line: int
    function: str
    link: str


class Audit(Struct, frozen=True):
    """The gaps of one registry."""

    release: str
    entries: int
    live: int | None
    without_hints: tuple[AuditedEntry, ...]
    # Entries with text that is known only at run time; `detail` names the fields.
    unevaluated: tuple[AuditedEntry, ...]
    without_explanation: tuple[AuditedEntry, ...]
    # None if the registry has no source code.
    without_call_site: tuple[AuditedEntry, ...] | None
    calls_without_entry: tuple[CallWithoutEntry, ...] | None
    # Types that several entries have or had.
    shared_types: tuple[AuditedEntry, ...]


def audit(snapshot: Snapshot) -> Audit:
    """Return the gaps of a registry."""
    entries = sorted(snapshot.entries.items())
    sites = snapshot.sites
    return Audit(
        release=snapshot.release,
        entries=len(entries),
        live=None if sites is None else len(sites),
        without_hints=tuple(
            AuditedEntry(name, readable_type(wordings[0].type))
            for name, wordings in entries
            if not joined_hints(wordings[0].hints)
        ),
        unevaluated=tuple(
            AuditedEntry(name, readable_type(wordings[0].type), ", ".join(fields))
            for name, wordings in entries
            if (fields := _unevaluated_fields(snapshot, name))
        ),
        without_explanation=tuple(
            AuditedEntry(name, readable_type(wordings[0].type))
            for name, wordings in entries
            if not wordings[0].explanation.strip()
        ),
        without_call_site=None
        if sites is None
        else tuple(
            AuditedEntry(name, readable_type(wordings[0].type))
            for name, wordings in entries
            if name not in sites
        ),
        calls_without_entry=None
        if sites is None
        else tuple(
            CallWithoutEntry(
                type=call.type,
                file=call.site.file,
                line=call.site.line,
                function=call.site.function,
                link=call.site.link(snapshot.release),
            )
            for call in snapshot.unmapped
        ),
        shared_types=_shared_types(snapshot),
    )


def _unevaluated_fields(snapshot: Snapshot, identifier: str) -> list[str]:
    wording = snapshot.entries[identifier][0]
    fields = ["explanation"] if is_unevaluated(wording.explanation) else []
    return fields + ["hint" for hint in wording.hints if is_unevaluated(hint)]


def _shared_types(snapshot: Snapshot) -> tuple[AuditedEntry, ...]:
    owners: dict[str, list[str]] = {}
    for identifier, wordings in sorted(snapshot.entries.items()):
        for type_ in dict.fromkeys(wording.type for wording in wordings):
            owners.setdefault(type_, []).append(identifier)
    return tuple(
        AuditedEntry(ids[0], readable_type(type_), "also " + ", ".join(ids[1:]))
        for type_, ids in owners.items()
        if len(ids) > 1
    )

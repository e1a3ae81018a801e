"""Data structures of the registry: wordings, call sites, and a snapshot of one release."""

from __future__ import annotations

import re
import zlib
from typing import Any

import msgspec
from msgspec import Struct, json

from fullgraph.errors import RegistryError

REGISTRY_FILE = "_dynamo/graph_break_registry.json"
HINTS_FILE = "torch/_dynamo/graph_break_hints.py"
ID = re.compile(r"GB\d{4,}")
_FIELDS = ("Gb_type", "Context", "Explanation", "Hints")


def identifier_in(text: str) -> str | None:
    """Return the id that a text consists of, such as `GB0124`, `gb124`, `0124` or a page's URL.

    None means that the text is something else.
    """
    text = text.strip()
    match = re.fullmatch(r"(?:GB)?(\d{1,6})", text, re.IGNORECASE) or re.fullmatch(
        r"\S*gb(\d{4,})(?:\.html?)?(?:[?#]\S*)?", text, re.IGNORECASE
    )
    return f"GB{int(match[1]):04d}" if match else None


class Wording(Struct, frozen=True, gc=False):
    """The text of an entry at one time, exactly as torch's file has it."""

    type: str = msgspec.field(name="Gb_type")
    context: str = msgspec.field(name="Context")
    explanation: str = msgspec.field(name="Explanation")
    hints: tuple[str, ...] = msgspec.field(name="Hints")


class CallSite(Struct, frozen=True, array_like=True, gc=False):
    """A call that raises a break. The file is relative to the folder that contains torch."""

    file: str
    line: int
    function: str

    def link(self, release: str) -> str:
        """Return the URL of the line on GitHub."""
        return f"https://github.com/pytorch/pytorch/blob/v{release}/{self.file}#L{self.line}"


class UnmappedCall(Struct, frozen=True):
    """A call that raises a break without a registry entry."""

    type: str
    site: CallSite


class SourceText(Struct, frozen=True):
    """Text from torch's source for an entry whose registry text is missing or a variable name."""

    explanations: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()


class Snapshot(Struct, frozen=True):
    """The registry of one release. The newest wording of each entry comes first.

    `sites` is None if the registry has no source code; then no entry is known to be live.
    """

    release: str
    entries: dict[str, tuple[Wording, ...]]
    sites: dict[str, tuple[CallSite, ...]] | None = None
    unmapped: tuple[UnmappedCall, ...] = ()
    texts: dict[str, SourceText] = {}
    # Distinguishes two registry files.
    checksum: str = ""
    origin: str = ""

    def is_live(self, identifier: str) -> bool | None:
        """Check whether some call raises an entry; None if the registry has no source code."""
        return None if self.sites is None else identifier in self.sites


def checksum_of(data: bytes) -> str:
    """Return a short checksum. It detects changes and is the same on every machine."""
    return f"{zlib.crc32(data):08x}"


def wording_checksum(wording: Wording) -> str:
    """Return a checksum of all fields of a wording."""
    return checksum_of(json.encode(wording))


def read_registry(
    data: bytes, where: str, *, unknown_fields: bool = False
) -> dict[str, tuple[Wording, ...]]:
    """Return the entries of a registry file; raise an error that names `where` if it is damaged.

    `unknown_fields` accepts new fields: the registry of a newer torch must stay readable.
    """
    try:
        entries = json.decode(data, type=dict[str, tuple[Wording, ...]])
    except (msgspec.DecodeError, UnicodeDecodeError):
        entries = {}
    # For two entries with the same id, the decoder keeps the last; the number of wordings then
    # differs from the file. It also skips unknown fields, which the number of keys reveals.
    wordings = sum(map(len, entries.values()))
    complete = wordings == data.count(b'"Gb_type"') and wordings > 0
    if complete and all(entries.values()) and all(map(ID.fullmatch, entries)):
        if unknown_fields or data.count(b'":') <= len(entries) + wordings * len(_FIELDS):
            return entries
        if not _has_unknown_fields(data):
            return entries
    raise RegistryError(f"{where}: {_complaint(data)}")


def _has_unknown_fields(data: bytes) -> bool:
    raw: dict[str, list[dict[str, Any]]] = json.decode(data)
    return any(set(wording) - set(_FIELDS) for wordings in raw.values() for wording in wordings)


def _complaint(data: bytes) -> str:
    """Return what is wrong with a registry file. This is slow, and needed only for errors."""
    import json as standard_json

    try:
        raw = standard_json.loads(data, object_pairs_hook=_Pairs)
    except ValueError as error:
        return f"it is not JSON ({error})"
    except RecursionError:
        return "it is nested too deeply for a registry"
    if not isinstance(raw, _Pairs):
        return "it is not a registry; expected an object that maps ids to lists of wordings"
    if not raw.pairs:
        return "it has no entries"
    ids = set()
    for identifier, wordings in raw.pairs:
        if identifier in ids:
            return f"{identifier} occurs twice"
        ids.add(identifier)
        if not ID.fullmatch(identifier):
            return f"{identifier!r} is not an id such as GB0124"
        if not isinstance(wordings, list) or not wordings:
            return f"{identifier} is not a list of wordings"
        for wording in wordings:
            problem = _wording_complaint(wording)
            if problem:
                return f"{identifier} {problem}"
    return "it cannot be read as a registry"


class _Pairs:
    """A JSON object as a list of pairs, which keeps duplicate keys."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        self.pairs = pairs


def _wording_complaint(wording: Any) -> str:
    if not isinstance(wording, _Pairs):
        return "has a wording that is not an object"
    names = [name for name, _ in wording.pairs]
    values = dict(wording.pairs)
    for name in _FIELDS:
        if name not in values:
            return f"lacks the field {name}"
        if names.count(name) > 1:
            return f"has the field {name} twice"
    unknown = [name for name in names if name not in _FIELDS]
    if unknown:
        return f"has an unknown field, {unknown[0]}"
    for name in _FIELDS[:3]:
        if not isinstance(values[name], str):
            return f"has a {name} that is not a string"
    hints = values["Hints"]
    if not isinstance(hints, list) or not all(isinstance(hint, str) for hint in hints):
        return "has Hints that are not a list of strings"
    return ""

"""Telling whether something has changed."""

from __future__ import annotations

from functools import cache
from hashlib import blake2b
from pathlib import Path, PurePath
from typing import Any

from msgspec import msgpack

_SOURCE = Path(__file__).parent
_MADE_OF = {".py", ".html", ".css", ".js", ".svg", ".xml", ".txt"}


def digest(data: bytes) -> str:
    return blake2b(data, digest_size=12).hexdigest()


def fingerprint(facts: Any) -> str:
    """Of anything that msgspec can encode; sets and dictionaries have no order here."""
    return digest(msgpack.encode(facts, enc_hook=_plain, order="deterministic"))


def _plain(value: Any) -> Any:
    # Where the catalog lies on this machine is not what a page shows.
    if isinstance(value, PurePath):
        return value.name
    raise NotImplementedError(f"{type(value).__name__} cannot be a fact")


@cache
def maker_fingerprint() -> str:
    """Of everything that decides how facts become files."""
    files = [file for file in sorted(_SOURCE.rglob("*")) if file.suffix in _MADE_OF]
    parts = [f"{file.relative_to(_SOURCE)}\0".encode() + file.read_bytes() for file in files]
    return digest(b"\0".join(parts))

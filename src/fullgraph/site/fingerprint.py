"""Compute fingerprints that detect changes."""

from __future__ import annotations

from functools import cache
from hashlib import blake2b
from pathlib import Path, PurePath
from typing import Any

from msgspec import msgpack

_SOURCE = Path(__file__).parent
_MADE_OF = {".py", ".html", ".css", ".js", ".svg", ".png", ".xml", ".txt", ".json", ".toml"}


def digest(data: bytes) -> str:
    """Return a digest of bytes."""
    return blake2b(data, digest_size=12).hexdigest()


def fingerprint(facts: Any) -> str:
    """Return a fingerprint of anything that msgspec can encode; sets and dicts are unordered."""
    return digest(msgpack.encode(facts, enc_hook=_plain, order="deterministic"))


def _plain(value: Any) -> Any:
    # The location of the catalog on this machine is not shown on any page.
    if isinstance(value, PurePath):
        return value.name
    raise NotImplementedError(f"{type(value).__name__} cannot be encoded")


@cache
def maker_fingerprint() -> str:
    """Return a fingerprint of the code, templates and assets that turn facts into files."""
    files = [file for file in sorted(_SOURCE.rglob("*")) if file.suffix in _MADE_OF]
    parts = [f"{file.relative_to(_SOURCE)}\0".encode() + file.read_bytes() for file in files]
    return digest(b"\0".join(parts))

"""Registries that were fetched before. Only what was read without an error is kept."""

from __future__ import annotations

import os
import time
from pathlib import Path

import msgspec
from msgspec import Struct, json

from fullgraph.errors import RegistryError
from fullgraph.files import replace_file
from fullgraph.registry.entries import Snapshot

# To be raised when more, or something else, is read out of a source: what is kept is read again.
#   1  the first
_FORMAT = 1


class Cached(Struct, frozen=True):
    snapshot: Snapshot
    fetched: float
    # What an address said about its content, to ask only for a newer one.
    etag: str = ""
    last_modified: str = ""
    format: int = _FORMAT

    def age(self) -> str:
        """`3 days`, for people."""
        seconds = max(0.0, time.time() - self.fetched)
        for unit, length in (("day", 86400), ("hour", 3600), ("minute", 60)):
            count = int(seconds // length)
            if count:
                return f"{count} {unit}{'' if count == 1 else 's'}"
        return "less than a minute"


def folder() -> Path:
    """`FULLGRAPH_HOME`, or the usual place for what can be fetched again."""
    home = os.environ.get("FULLGRAPH_HOME")
    if home:
        return Path(home) / "registry"
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(cache) / "fullgraph" / "registry"


def load(name: str) -> Cached | None:
    """What is kept under a name. A file that cannot be read is as good as none."""
    try:
        cached = json.decode(_file(name).read_bytes(), type=Cached)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return None
    return cached if cached.format == _FORMAT else None


def store(name: str, cached: Cached) -> None:
    file = _file(name)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RegistryError(
            f"cannot keep the registry in {file.parent} ({error.strerror}): set FULLGRAPH_HOME"
        ) from None
    replace_file(file, [json.encode(cached)])


def names() -> list[str]:
    try:
        files = os.listdir(folder())
    except OSError:
        return []
    return sorted(
        file.removesuffix(".json")
        for file in files
        if file.endswith(".json") and not file.startswith(".")
    )


def _file(name: str) -> Path:
    return folder() / f"{name}.json"

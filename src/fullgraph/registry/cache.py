"""Cache of downloaded registries. Only registries without errors are stored."""

from __future__ import annotations

import os
import time
from pathlib import Path

import msgspec
from msgspec import Struct, json

from fullgraph.errors import RegistryError
from fullgraph.files import replace_file
from fullgraph.folders import registry_cache_folder
from fullgraph.registry.entries import Snapshot

# Increase it when a source is read differently; cached registries are then read again.
#   1  the first
_FORMAT = 1


class Cached(Struct, frozen=True):
    """A cached registry and when it was downloaded."""

    snapshot: Snapshot
    fetched: float
    # Headers of the response, for a conditional request.
    etag: str = ""
    last_modified: str = ""
    format: int = _FORMAT

    def age(self) -> str:
        """Return the age as text for people, such as `3 days`."""
        seconds = max(0.0, time.time() - self.fetched)
        for unit, length in (("day", 86400), ("hour", 3600), ("minute", 60)):
            count = int(seconds // length)
            if count:
                return f"{count} {unit}{'' if count == 1 else 's'}"
        return "less than a minute"


def load(name: str) -> Cached | None:
    """Return the registry with this name; None if there is none or it cannot be read."""
    try:
        cached = json.decode(_file(name).read_bytes(), type=Cached)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return None
    return cached if cached.format == _FORMAT else None


def store(name: str, cached: Cached) -> None:
    """Store a registry under a name."""
    file = _file(name)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RegistryError(
            f"cannot store the registry in {file.parent} ({error.strerror}); set FULLGRAPH_HOME"
        ) from None
    replace_file(file, [json.encode(cached)])


def names() -> list[str]:
    """Return the names of all cached registries."""
    try:
        files = os.listdir(registry_cache_folder())
    except OSError:
        return []
    return sorted(
        file.removesuffix(".json")
        for file in files
        if file.endswith(".json") and not file.startswith(".")
    )


def _file(name: str) -> Path:
    return registry_cache_folder() / f"{name}.json"

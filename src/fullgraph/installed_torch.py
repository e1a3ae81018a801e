"""The registry that comes with the torch that is installed, found without importing torch."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

from msgspec import json

FILE = "graph_break_registry.json"
OLDEST_TORCH = (2, 8)


def torch_folder() -> Path | None:
    """Where torch is installed; looking a top-level package up does not import it."""
    spec = importlib.util.find_spec("torch")
    if spec is None or spec.origin is None:
        return None
    return Path(spec.origin).parent


def torch_version() -> str | None:
    # Slow to import, and only needed where torch is about to be run.
    from importlib import metadata

    try:
        return metadata.version("torch")
    except metadata.PackageNotFoundError:
        return None


def release_of(version: str) -> tuple[int, int]:
    """`2.13.0+cpu` as (2, 13); what cannot be read counts as the newest, not the oldest."""
    parts = version.split("+")[0].split(".")
    try:
        return int(parts[0]), int(parts[1])
    except (IndexError, ValueError):
        return (99, 0)


def ids_by_type(torch: Path) -> dict[str, str]:
    """From the type of a break to its id; a current wording wins over somebody's older one."""
    file = torch / "_dynamo" / FILE
    entries: dict[str, list[dict[str, Any]]] = json.decode(file.read_bytes())
    ids: dict[str, str] = {}
    for identifier, wordings in entries.items():
        for wording in wordings[1:]:
            ids.setdefault(wording["Gb_type"], identifier)
    for identifier, wordings in entries.items():
        ids[wordings[0]["Gb_type"]] = identifier
    return ids

"""The installed torch and its registry, found without importing torch."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

from msgspec import json

FILE = "graph_break_registry.json"
OLDEST_TORCH = (2, 8)


def torch_folder() -> Path | None:
    """Return the folder of the installed torch without importing it; None if there is none."""
    spec = importlib.util.find_spec("torch")
    if spec is None or spec.origin is None:
        return None
    return Path(spec.origin).parent


def torch_version() -> str | None:
    """Return the version of the installed torch; None if there is none."""
    # This import is slow, and only needed to run torch.
    from importlib import metadata

    try:
        return metadata.version("torch")
    except metadata.PackageNotFoundError:
        return None


def release_of(version: str) -> tuple[int, int]:
    """Return `2.13.0+cpu` as (2, 13). A version that cannot be parsed counts as the newest."""
    # Not `packaging`: capture calls this inside the user's program, which may have a module of
    # that name.
    parts = version.split("+")[0].split(".")
    try:
        return int(parts[0]), int(parts[1])
    except (IndexError, ValueError):
        return (99, 0)


def ids_by_type(torch: Path) -> dict[str, str]:
    """Return the id for each type; current wordings win over earlier wordings of other entries."""
    file = torch / "_dynamo" / FILE
    entries: dict[str, list[dict[str, Any]]] = json.decode(file.read_bytes())
    ids: dict[str, str] = {}
    for identifier, wordings in entries.items():
        for wording in wordings[1:]:
            ids.setdefault(wording["Gb_type"], identifier)
    for identifier, wordings in entries.items():
        ids[wordings[0]["Gb_type"]] = identifier
    return ids

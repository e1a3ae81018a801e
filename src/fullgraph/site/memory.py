"""What takes long to work out and hardly ever changes, kept from one build to the next.

Nothing depends on it: what cannot be read or written is worked out again.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
from msgspec import json

from fullgraph.catalog import parse as read
from fullgraph.catalog.parse import ENTRIES, Example, example_ids, read_example
from fullgraph.errors import FullgraphError
from fullgraph.files import replace_file
from fullgraph.registry import cache
from fullgraph.site.fingerprint import digest, fingerprint, maker_fingerprint
from fullgraph.site.markdown import to_html

# The level of the first heading in the text of a category.
CATEGORY_HEADING = 2


def _file(name: str) -> Path:
    return cache.folder().parent / "site" / f"{name}.json"


def compiled_templates() -> Path | None:
    """A folder for templates that were compiled before; None if there can be none."""
    folder = _file("").parent / "templates"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    return folder if os.access(folder, os.W_OK) else None


def _recall(name: str, key: str, type_: Any) -> Any:
    """What was remembered under the same key; None if it was another, or nothing."""
    try:
        found, value = json.decode(_file(name).read_bytes(), type=tuple[str, msgspec.Raw])
        return json.decode(value, type=type_, dec_hook=_path) if found == key else None
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return None


def _remember(name: str, key: str, value: object) -> None:
    file = _file(name)
    with suppress(OSError, FullgraphError):
        file.parent.mkdir(parents=True, exist_ok=True)
        replace_file(file, [json.encode((key, value), enc_hook=os.fspath)])


def _path(type_: type, value: Any) -> Any:
    return type_(value)


class Renderings:
    """Markdown that was rendered before; what is not asked for again is forgotten."""

    def __init__(self) -> None:
        self._known: dict[str, str] = _recall("markdown", maker_fingerprint(), dict[str, str]) or {}
        self._used: dict[str, str] = {}

    def __call__(self, text: str, top: int) -> str:
        key = digest(f"{top} {text}".encode())
        html = self._known.get(key)
        self._used[key] = html = to_html(text, top) if html is None else html
        return html

    @property
    def are_known(self) -> bool:
        return bool(self._known)

    def save(self) -> None:
        if self._used != self._known:
            _remember("markdown", maker_fingerprint(), self._used)


def all_examples() -> dict[str, Example]:
    """The catalog by id. Its files are parsed when one of them, or the parser, has changed."""
    statuses = {entry.name: entry.stat() for entry in os.scandir(ENTRIES) if entry.is_file()}
    files = [(name, each.st_mtime_ns, each.st_size) for name, each in sorted(statuses.items())]
    parser = os.stat(read.__file__)
    key = fingerprint((str(ENTRIES), files, parser.st_mtime_ns, parser.st_size))
    known: dict[str, Example] | None = _recall("catalog", key, dict[str, Example])
    if known is not None:
        return known
    found = {name: example for name in example_ids() if (example := read_example(name))}
    _remember("catalog", key, found)
    return found

"""Additional information: what people wrote about a break, one Markdown file each."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from msgspec import Struct

from fullgraph.site.model import Info, Settings


class Added(Struct, frozen=True):
    """What a folder of additional information holds."""

    infos: dict[str, Info] = {}
    problems: tuple[str, ...] = ()
    orphans: tuple[Info, ...] = ()


def read_info(folder: Path, known: Collection[str]) -> Added:
    return Added()


def edit_link(identifier: str, settings: Settings, exists: bool) -> str:
    return ""

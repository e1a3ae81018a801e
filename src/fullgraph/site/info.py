"""Read additional information: one contributed Markdown file per break.

The files are never written. Damaged files are reported, and shown as far as possible.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote, urlencode

from msgspec import Struct

from fullgraph.errors import FullgraphError
from fullgraph.files import unreadable
from fullgraph.site.contributed_files import RefusedError, read_contributed
from fullgraph.site.markdown import contributed_html
from fullgraph.site.markers import END, START, Section, find_section
from fullgraph.site.model import Info, Settings

_NAME = re.compile(r"gb(\d{4,})\.md", re.IGNORECASE)
_NEARLY = re.compile(r"gb.*\.(md|markdown)", re.IGNORECASE)
# One level below the heading of the section.
_TOP_HEADING = 3
_BYTE_ORDER_MARK = "\ufeff"
# A new file of information.
TEMPLATE = f"{START}\n\n{END}\n"


class Added(Struct, frozen=True):
    """The content of a folder of additional information."""

    infos: dict[str, Info] = {}
    # One line per problem: the name of the file, and the problem in parentheses.
    problems: tuple[str, ...] = ()
    # About ids that are not known.
    orphans: tuple[Info, ...] = ()


class InfoFile(NamedTuple):
    """A file of additional information and its section between the markers."""

    id: str
    name: str
    data: bytes
    section: Section


def read_info(folder: Path, known: Collection[str]) -> Added:
    """Read all files of a folder; `known` are the ids that have a page."""
    infos: dict[str, Info] = {}
    orphans: dict[str, Info] = {}
    problems = list(misnamed(folder))
    for file in info_files(folder):
        info = _info(file)
        if info.problem:
            problems.append(f"{file.name} ({info.problem})")
        same = infos.get(file.id) or orphans.get(file.id)
        if same is not None:
            problems.append(f"{file.name} ({same.file} is about the same break)")
        elif file.id in known:
            infos[file.id] = info
        else:
            orphans[file.id] = info
    return Added(infos, tuple(problems), tuple(orphans.values()))


def info_files(folder: Path) -> Iterator[InfoFile]:
    """Yield the files that are named after a break."""
    for path in entries_of(folder):
        match = _NAME.fullmatch(path.name)
        if match is None:
            continue
        try:
            data = read_contributed(path)
        except RefusedError as error:
            yield InfoFile(f"GB{match[1]}", path.name, b"", Section("", str(error)))
        else:
            yield InfoFile(f"GB{match[1]}", path.name, data, section_of(data))


def misnamed(folder: Path) -> Iterator[str]:
    """Yield problems of files whose names are almost right."""
    for path in entries_of(folder):
        if _NEARLY.fullmatch(path.name) and not _NAME.fullmatch(path.name):
            yield f"{path.name} (it is not named like gb0124.md)"


def entries_of(folder: Path) -> list[Path]:
    """Return everything in the folder, by name."""
    try:
        return sorted(folder.iterdir())
    except OSError as error:
        raise FullgraphError(unreadable(folder, error)) from None


def section_of(data: bytes) -> Section:
    """Return the section between the markers; bytes that are not UTF-8 are replaced."""
    try:
        return find_section(data.decode())
    except UnicodeDecodeError as error:
        problem = f"it is not UTF-8: byte {error.start + 1} is {data[error.start]:#04x}"
        if b"\0" in data:  # probably another encoding
            return Section("", problem)
        return Section(find_section(data.decode(errors="replace")).text, problem)


def _info(file: InfoFile) -> Info:
    text = file.section.text.removeprefix(_BYTE_ORDER_MARK)
    html, problem = contributed_html(text, _TOP_HEADING) if text.strip() else ("", "")
    return Info(file.name, text, html, file.section.problem or problem)


def edit_link(identifier: str, settings: Settings, info: Info | None) -> str:
    """Return the GitHub URL to edit or create the file; empty without a repository."""
    if not settings.repository:
        return ""
    root = f"https://github.com/{settings.repository}"
    place = f"{quote(settings.branch)}/{quote(settings.info_path)}"
    if info is not None:
        return f"{root}/edit/{place}/{quote(info.file)}"
    query = urlencode({"filename": file_of(identifier), "value": TEMPLATE})
    return f"{root}/new/{place}?{query}"


def file_of(identifier: str) -> str:
    """Return the name of the file of information about a break."""
    return f"{identifier.lower()}.md"

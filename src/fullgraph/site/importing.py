"""Import contributed information from the original site, without the text around it.

A page whose id no known release has is imported with its text: no registry has it, so it would be
lost otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path

from msgspec import Struct

from fullgraph.errors import FullgraphError
from fullgraph.files import replace_file
from fullgraph.site.info import InfoFile, info_files
from fullgraph.site.markers import END, START

_FRONT_MATTER = re.compile(r"\A---\r?\n.*?^---\r?\n", re.MULTILINE | re.DOTALL)
_INFORMATION = re.compile(r"^## Additional Information\b", re.MULTILINE)
# The title, which is the id, and the captions below the headings.
_REPEATED = re.compile(r"^(?:# .*|\*[^*\n]+\*[ \t]*)\r?\n+", re.MULTILINE)


class Imported(Struct):
    """Names of files, by result."""

    copied: list[str] = []
    # Copied by an earlier import.
    same: list[str] = []
    # Files without information.
    empty: list[str] = []
    # Damaged files, copied unchanged, with a description of the damage.
    damaged: list[str] = []
    # Files that are not read, with the reason.
    refused: list[str] = []
    # Not copied: a file of this name with other content exists.
    kept: list[str] = []
    # Pages of ids that no known release has, copied with their text.
    unknown: list[str] = []

    def lines(self) -> list[str]:
        """Return one line per result."""
        lines = [
            f"{len(self.copied)} copied, {len(self.same)} already here, "
            f"{len(self.empty)} without additional information"
        ]
        named = {
            "no known release has these ids, so their pages were copied as a whole": self.unknown,
            "damaged, copied unchanged": self.damaged,
            "not copied": self.refused,
            "not copied, because your files differ": self.kept,
        }
        return lines + [f"{what}: {', '.join(names)}" for what, names in named.items() if names]


def import_folder(source: Path, target: Path, known: Collection[str] | None = None) -> Imported:
    """Import from `docs/gb` of the original site, or from a folder that contains it.

    `known` are the ids that any release has; None means that all are known. Existing files are
    not overwritten.
    """
    result = Imported()
    for file in info_files(_folder_of(source)):
        name = f"{file.id.lower()}.md"
        if file.section.problem and not file.data:
            result.refused.append(f"{name} ({file.section.problem})")
            continue
        is_known = known is None or file.id in known
        content = _content(file) if is_known else _whole_page(file)
        if not content:
            result.empty.append(name)
        else:
            _import(target / name, content, file, result)
            if not is_known:
                result.unknown.append(name)
    return result


def _import(path: Path, content: bytes, file: InfoFile, result: Imported) -> None:
    if path.exists() or path.is_symlink():
        same = path.is_file() and path.read_bytes() == content
        (result.same if same else result.kept).append(path.name)
        return
    _make(path.parent)
    replace_file(path, [content])
    if file.section.problem:
        result.damaged.append(f"{path.name} ({file.section.problem})")
    else:
        result.copied.append(path.name)


def _folder_of(source: Path) -> Path:
    if not source.is_dir():
        raise FullgraphError(f"there is no folder {source}; name a checkout of the original site")
    for folder in (source / "docs" / "gb", source / "gb", source):
        if folder.is_dir() and any(folder.glob("[gG][bB][0-9]*.md")):
            return folder
    raise FullgraphError(f"{source} has no files such as gb0124.md, and neither has its docs/gb")


def _content(file: InfoFile) -> bytes:
    """Return the information with its markers, or a damaged file completely; empty if there is
    none."""
    if file.section.problem:
        return file.data
    if not file.section.text.strip():
        return b""
    return f"{file.section.whole}\n".encode()


def _whole_page(file: InfoFile) -> bytes:
    """Return the text of a page and its information, between markers; a damaged file completely."""
    if file.section.problem:
        return file.data
    text = _FRONT_MATTER.sub("", file.data.decode())
    heading = _INFORMATION.search(text)
    page = text[: heading.start()] if heading else text.partition(file.section.whole)[0]
    parts = [_REPEATED.sub("", page).strip(), file.section.text.strip()]
    shown = "\n\n".join(part for part in parts if part)
    return f"{START}\n{shown}\n{END}\n".encode()


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FullgraphError(f"cannot create {folder}: {error.strerror}") from None

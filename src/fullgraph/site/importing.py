"""Import contributed information from the original site, without the text around it."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from fullgraph.errors import FullgraphError
from fullgraph.files import replace_file
from fullgraph.site.info import InfoFile, info_files


class Imported(Struct):
    """Names of files, by result."""

    copied: list[str] = []
    # Copied by an earlier import.
    same: list[str] = []
    # Files without information.
    empty: list[str] = []
    # Damaged files, copied unchanged, with a description of the damage.
    damaged: list[str] = []
    # Not copied: a file of this name with other content exists.
    kept: list[str] = []

    def lines(self) -> list[str]:
        """Yield one line per result."""
        lines = [
            f"{len(self.copied)} copied, {len(self.same)} already here, "
            f"{len(self.empty)} without additional information"
        ]
        if self.damaged:
            lines.append(f"damaged, copied unchanged: {', '.join(self.damaged)}")
        if self.kept:
            lines.append(f"not copied, because your files differ: {', '.join(self.kept)}")
        return lines


def import_folder(source: Path, target: Path) -> Imported:
    """Import from `docs/gb` of the original site, or from a folder that contains it.

    Existing files are not overwritten.
    """
    result = Imported()
    for file in info_files(_folder_of(source)):
        content = _content(file)
        name = f"{file.id.lower()}.md"
        path = target / name
        if not content:
            result.empty.append(name)
        elif path.exists() or path.is_symlink():
            same = path.is_file() and path.read_bytes() == content
            (result.same if same else result.kept).append(name)
        else:
            _make(target)
            replace_file(path, [content])
            if file.section.problem:
                result.damaged.append(f"{name} ({file.section.problem})")
            else:
                result.copied.append(name)
    return result


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


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FullgraphError(f"cannot create {folder}: {error.strerror}") from None

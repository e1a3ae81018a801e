"""Takes over what people wrote for the original site: the information, and nothing around it."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from fullgraph.errors import FullgraphError
from fullgraph.files import replace_file
from fullgraph.site.info import InfoFile, info_files


class Imported(Struct):
    """Names of files, by what became of them."""

    copied: list[str] = []
    # Those that had been copied before.
    same: list[str] = []
    # Without any information.
    empty: list[str] = []
    # Copied byte for byte, with what is wrong with them.
    damaged: list[str] = []
    # Not copied: there is one of the same name that says something else.
    kept: list[str] = []

    def lines(self) -> list[str]:
        lines = [
            f"{len(self.copied)} copied, {len(self.same)} here already, "
            f"{len(self.empty)} without additional information"
        ]
        if self.damaged:
            lines.append(f"copied whole, because they are damaged: {', '.join(self.damaged)}")
        if self.kept:
            lines.append(f"not copied, because yours differ: {', '.join(self.kept)}")
        return lines


def import_folder(source: Path, target: Path) -> Imported:
    """From `docs/gb` of the original site, or a folder that has it, to ours. Overwrites nothing."""
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
        raise FullgraphError(f"there is no folder {source}: name a checkout of the original site")
    for folder in (source / "docs" / "gb", source / "gb", source):
        if folder.is_dir() and any(folder.glob("[gG][bB][0-9]*.md")):
            return folder
    raise FullgraphError(f"{source} has no files such as gb0124.md, nor has its docs/gb")


def _content(file: InfoFile) -> bytes:
    """The information with its markers; nothing where there is none; all of a damaged file."""
    if file.section.problem:
        return file.data
    if not file.section.text.strip():
        return b""
    return f"{file.section.whole}\n".encode()


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FullgraphError(f"cannot make {folder}: {error.strerror}") from None

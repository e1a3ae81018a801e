"""Write files so that an existing file is never lost or half-written."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from fullgraph.errors import FullgraphError


def replace_file(path: str | os.PathLike[str], chunks: Iterable[bytes]) -> None:
    """Write `chunks` to a temporary file beside `path`, then rename it into place."""
    # A symbolic link stays a link: its target is replaced.
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        _write_in_place(target, chunks)
        return
    temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("wb") as file:
            file.writelines(chunks)
        temporary.replace(target)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise FullgraphError(f"cannot write {target}: {error.strerror or error}") from None


def _write_in_place(target: Path, chunks: Iterable[bytes]) -> None:
    """Write to a pipe or a device, which a new file would destroy."""
    try:
        with target.open("wb") as file:
            file.writelines(chunks)
    except OSError as error:
        raise FullgraphError(f"cannot write {target}: {error.strerror or error}") from None


def check_writable(path: str | os.PathLike[str]) -> None:
    """Raise a `FullgraphError` if `path` cannot be written, before a long run produces it."""
    target = Path(path)
    if target.is_dir():
        raise FullgraphError(f"cannot write {target}: it is a directory; name a file")
    folder = Path(os.path.realpath(target)).parent
    if not os.access(folder, os.W_OK):
        raise FullgraphError(
            f"cannot write {target}: {folder} is missing or read-only; name another file"
        )

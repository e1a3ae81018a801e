"""Writing files so that nothing that existed is lost or half-written."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from fullgraph.errors import FullgraphError


def replace_file(path: str | os.PathLike[str], chunks: Iterable[bytes]) -> None:
    """Write `chunks` to a temporary file beside `path`, then rename it into place."""
    # A link stays a link: what it points at is replaced.
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
    """A pipe or a device is written to; putting a file in its place would destroy it."""
    try:
        with target.open("wb") as file:
            file.writelines(chunks)
    except OSError as error:
        raise FullgraphError(f"cannot write {target}: {error.strerror or error}") from None


def check_writable(path: str | os.PathLike[str]) -> None:
    """Find out before a long run that its result could not be written after it."""
    target = Path(path)
    if target.is_dir():
        raise FullgraphError(f"cannot write {target}: it is a directory")
    folder = Path(os.path.realpath(target)).parent
    if not os.access(folder, os.W_OK):
        raise FullgraphError(f"cannot write {target}: {folder} is missing or read-only")

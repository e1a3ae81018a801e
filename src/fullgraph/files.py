"""Write files so that none is lost or half-written, and say why a file cannot be used."""

from __future__ import annotations

import os
import shutil
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
        if target.exists():
            shutil.copymode(target, temporary)
        temporary.replace(target)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise FullgraphError(unwritable(target, error)) from None


def _write_in_place(target: Path, chunks: Iterable[bytes]) -> None:
    """Write to a pipe or a device, which a new file would destroy."""
    try:
        with target.open("wb") as file:
            file.writelines(chunks)
    except OSError as error:
        raise FullgraphError(unwritable(target, error)) from None


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


def unreadable(path: str | os.PathLike[str], error: OSError) -> str:
    """Return the message for a file or a folder that cannot be read: why, and what to do."""
    is_forbidden = isinstance(error, PermissionError)
    remedy = "check its permissions" if is_forbidden else "check the path"
    return f"cannot read {os.fspath(path)}: {error.strerror or error}; {remedy}"


def unwritable(path: str | os.PathLike[str], error: OSError) -> str:
    """Return the message for a file or a folder that cannot be written: why, and what to do."""
    return f"cannot write {os.fspath(path)}: {error.strerror or error}; name another path"

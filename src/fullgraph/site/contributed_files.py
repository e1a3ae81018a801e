"""Read files that anyone may contribute, and refuse those that a site must not publish.

A symbolic link would publish a file of the machine that builds the site; a pipe would stop the
build, and a file of megabytes would make a page that no browser can show.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

# Ten times as much as the longest page of the site has.
MOST_BYTES = 100_000


class RefusedError(Exception):
    """A file that is not published; the message says why, without the name of the file."""


def read_contributed(path: Path, most: int = MOST_BYTES) -> bytes:
    """Return the content of a regular file; raise `RefusedError` for everything else."""
    try:
        # Without O_NONBLOCK, opening a pipe waits for its other end.
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise RefusedError(
                "it is a symbolic link, which is not followed; add the file itself"
            ) from None
        raise RefusedError(f"it cannot be read: {error.strerror}") from None
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise RefusedError("it is not a file")
        if status.st_size > most:
            raise RefusedError(
                f"it has {status.st_size:,} bytes, and at most {most:,} are allowed; shorten it"
            )
        with open(descriptor, "rb", closefd=False) as file:
            return file.read(most)
    finally:
        os.close(descriptor)


def symbolic_link_on(folder: Path, path: str) -> Path | None:
    """Return the first symbolic link on the way from a folder to `path`; None if there is none."""
    place = folder
    for part in Path(path).parts:
        place /= part
        if place.is_symlink():
            return place
    return None

"""What a confined process may read: the system's programs, Python, and the project of the program.

Home folders, other temporary files and files that hold keys by their names are left out.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from msgspec import Struct

_SYSTEM = (
    "/usr", "/lib", "/lib32", "/lib64", "/bin", "/sbin", "/opt", "/nix/store", "/sys",
    "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/localtime", "/etc/timezone",
    "/etc/passwd", "/etc/group", "/etc/nsswitch.conf", "/etc/alternatives", "/etc/mime.types",
)  # fmt: skip
# By their names these may hold keys.
_SECRETS = re.compile(
    r"\.env(\..*|rc)?|\.git|\.hg|\.netrc|\.pypirc|\.npmrc|\.ssh|\.aws|\.kaggle|\.docker|\.azure|"
    r"\.config|\.gnupg|id_(rsa|dsa|ecdsa|ed25519).*|.*\.(pem|key|p12|pfx|kdbx)|"
    r".*(secret|credential|password|api_?key).*",
    re.IGNORECASE,
)
# Deeper folders of a project are not searched for such names.
_DEEPEST = 3
# Folders with more entries than this are data.
_MOST_ENTRIES = 500


class Readable(Struct, frozen=True):
    """What may be read, and the folders that may only be listed."""

    reads: tuple[str, ...]
    lists: tuple[str, ...] = ()


def readable(project: Iterable[str], allowed: Iterable[str] = ()) -> Readable:
    """Return what may be read for a program with these folders; `allowed` is allowed as it is."""
    reads: list[str] = [*_SYSTEM, *_python_folders(), *map(os.path.realpath, allowed)]
    lists: list[str] = []
    searched = [each for each in sys.path if each and os.path.isdir(each)]
    for folder in dict.fromkeys(map(os.path.realpath, [*project, *searched])):
        if not _holds_other_things(Path(folder)):
            _allow(Path(folder), 0, reads, lists)
    return Readable(tuple(dict.fromkeys(reads)), tuple(dict.fromkeys(lists)))


def is_secret(name: str) -> bool:
    """Return whether a file or folder may hold keys, by its name; Python source does not."""
    return bool(_SECRETS.fullmatch(name)) and not name.endswith(".py")


def _python_folders() -> Iterator[str]:
    yield from dict.fromkeys((sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix))
    yield os.path.dirname(os.path.realpath(sys.executable))
    here = Path(__file__).parents[2]
    yield str(here)


def _holds_other_things(folder: Path) -> bool:
    """Return whether a folder is the user's home, or contains it."""
    home = Path(os.path.realpath(Path.home()))
    return folder == home or folder in home.parents or folder == folder.parent


def _allow(folder: Path, depth: int, reads: list[str], lists: list[str]) -> bool:
    """Add rules for a folder; return whether it was added as a whole."""
    try:
        entries = list(os.scandir(folder))
    except OSError:
        return False
    inner: list[str] = []
    is_whole = True
    for entry in entries if len(entries) <= _MOST_ENTRIES else ():
        if is_secret(entry.name):
            is_whole = False
        elif depth < _DEEPEST and entry.is_dir(follow_symlinks=False):
            is_whole = _allow(Path(entry.path), depth + 1, inner, lists) and is_whole
        else:
            inner.append(entry.path)
    if is_whole:
        reads.append(str(folder))
    else:
        lists.append(str(folder))
        reads.extend(inner)
    return is_whole

"""The change between a revision of git and the work tree.

Files that git does not know are as they are, before and after. Nothing is checked out, and nothing
is written. Imports no torch.
"""

from __future__ import annotations

import io
import os
import subprocess
import tokenize
from collections.abc import Iterator
from pathlib import Path

from fullgraph.fix.verify.change import ChangeError, FileChange, first_changed_line
from fullgraph.python_source import read_source

_REGULAR = ("100644", "100755", "000000")


def changes_since(revision: str, main_file: str) -> tuple[FileChange, ...]:
    """Return what the work tree changes in a revision; ChangeError if there is no such change."""
    folder = os.path.dirname(os.path.realpath(main_file)) if main_file else os.getcwd()
    root = Path(_git(folder, "rev-parse", "--show-toplevel").decode().rstrip("\n"))
    try:
        commit = _git(
            folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}"
        )
    except ChangeError:
        raise ChangeError(
            f"{revision} is no revision of this repository; see `git log --oneline`"
        ) from None
    changes = tuple(_changes(root, commit.decode().strip()))
    if not changes:
        raise ChangeError(f"the work tree does not differ from {revision}; nothing to verify")
    return changes


def _changes(root: Path, commit: str) -> Iterator[FileChange]:
    raw = _git(
        str(root),
        "diff",
        "--raw",
        "-z",
        "--no-abbrev",
        "--no-renames",
        "--no-ext-diff",
        commit,
        "--",
    )
    fields = raw.decode(errors="surrogateescape").split("\0")
    for facts, name in zip(fields[::2], fields[1::2], strict=False):
        old_mode, new_mode, old_blob, _, kind = facts.removeprefix(":").split(" ")
        path = os.path.realpath(root / name)
        if old_mode not in _REGULAR or new_mode not in _REGULAR:
            yield FileChange(path, None, None, "is a link or a module of git")
            continue
        before = None if kind == "A" else _text(_git(str(root), "cat-file", "blob", old_blob))
        after = None if kind == "D" else read_source(path)
        if (before is None and kind != "A") or (after is None and kind != "D"):
            yield FileChange(path, None, None, "is not text")
        elif before == after:
            # Only its line ends or permissions differ.
            continue
        else:
            line = first_changed_line(before or "", after or "")
            yield FileChange(path, before, after, line=line)


def _text(content: bytes) -> str | None:
    """Return the text of a file as `read_source` does; None if it is not text."""
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
        return io.TextIOWrapper(io.BytesIO(content), encoding).read()
    except (SyntaxError, UnicodeDecodeError):
        return None


def _git(folder: str, *arguments: str) -> bytes:
    command = ["git", "-c", "core.fsmonitor=false", "-C", folder, *arguments]
    try:
        done = subprocess.run(command, capture_output=True, check=False)
    except OSError:
        raise ChangeError("git is not installed; name a diff with --patch") from None
    if done.returncode:
        raise ChangeError("the program is in no git repository with commits; use --patch")
    return done.stdout

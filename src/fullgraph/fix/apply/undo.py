"""Reverts what `--apply` wrote: the old texts come from its journal."""

from __future__ import annotations

import os
from pathlib import Path

from fullgraph.fix.apply.journal import (
    DONE,
    Change,
    Journal,
    pending_journals,
    read_journal,
    recover,
    start_undo,
)
from fullgraph.fix.model import FixError
from fullgraph.fix.report.diff import display_path
from fullgraph.folders import undo_folder


def undo(*, force: bool, script: str | None = None) -> list[str]:
    """Restore the files of the last `--apply` that wrote a script, or a file below this folder.

    An `--apply` that was interrupted counts, too. Returns the paths of the files.
    """
    wanted = os.path.realpath(script or os.curdir)
    interrupted = [file for file in pending_journals() if _concerns(file, wanted)]
    names = [display_path(c.path) for file in interrupted for c in read_journal(file).changes]
    problems = recover().problems
    left = next((file for file in interrupted if file.exists()), None)
    if left is not None and not force:
        raise FixError(problems[0])
    if left is not None:
        left.rename(left.with_suffix(DONE))
        start_undo(left.with_suffix(DONE), read_journal(left.with_suffix(DONE)), force=True)
    if interrupted:
        return list(dict.fromkeys(names))
    return _undo_last(wanted, force=force, script=script)


def _undo_last(wanted: str, *, force: bool, script: str | None) -> list[str]:
    file, journal = _journal_to_undo(wanted, script)
    if not force:
        for change in journal.changes:
            _require_as_written(change)
    start_undo(file, journal, force=force)
    return [display_path(change.path) for change in journal.changes]


def _require_as_written(change: Change) -> None:
    name = display_path(change.path)
    if not os.path.exists(change.path):
        raise FixError(f"{name} is gone; use --force to write the old text anyway")
    known = (change.encoded(change.before), change.encoded(change.after))
    if Path(change.path).read_bytes() not in known:
        raise FixError(
            f"{name} was changed after the fix; use --force to restore the old text anyway"
        )


def _concerns(file: Path, wanted: str) -> bool:
    """Return whether a journal has a file, or a file below a folder."""
    return any(_is_wanted(path, wanted) for path in _paths(read_journal(file)))


def _is_wanted(path: str, wanted: str) -> bool:
    return path == wanted or path.startswith(wanted + os.sep)


def _paths(journal: Journal) -> list[str]:
    return [os.path.realpath(change.path) for change in journal.changes]


def _journal_to_undo(wanted: str, script: str | None) -> tuple[Path, Journal]:
    """Return the newest journal of a script, or of any file below this folder."""
    other = ""
    for file in sorted(undo_folder().glob(f"*{DONE}"), reverse=True):
        journal = read_journal(file)
        paths = _paths(journal)
        # A folder that was removed took its files with it.
        if not all(os.path.isdir(os.path.dirname(path)) for path in paths):
            continue
        if any(_is_wanted(path, wanted) for path in paths):
            return file, journal
        other = other or paths[0]
    if script is not None:
        raise FixError(f"no --apply wrote {script}; fullgraph fix --undo reverts the last one here")
    if other:
        raise FixError(
            f"no --apply wrote a file in this folder; to revert the last one: "
            f"fullgraph fix --undo {other}"
        )
    raise FixError("there is nothing to revert; only files that --apply wrote can be")

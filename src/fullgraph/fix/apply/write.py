"""Writes changes to the user's files, after the checks that nothing can be lost."""

from __future__ import annotations

import os
from collections.abc import Sequence

from fullgraph.fix.apply.git import require_clean
from fullgraph.fix.apply.journal import Change, write_files
from fullgraph.fix.model import FixError
from fullgraph.fix.report.diff import display_path


def apply_changes(changes: Sequence[Change], *, force: bool) -> None:
    """Write all files or none; without `force`, only files that git has as they are."""
    for change in changes:
        if not os.access(change.path, os.W_OK):
            raise FixError(f"{display_path(change.path)} is read-only; make it writable")
    if not force:
        for change in changes:
            require_clean(change.path)
    write_files(changes)

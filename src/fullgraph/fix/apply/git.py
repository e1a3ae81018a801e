"""Checks that git could give back the text of a file that is about to be written."""

from __future__ import annotations

import subprocess
from pathlib import Path

from fullgraph.fix.model import FixError
from fullgraph.fix.report.diff import display_path


def require_clean(file: str) -> None:
    """Check that git has the file as it is, so that nothing can be lost."""
    path = Path(file)
    try:
        found = subprocess.run(
            ["git", "status", "--porcelain", "--ignored", "--", path.name],
            cwd=path.parent, capture_output=True, text=True, check=False,
        )  # fmt: skip
    except FileNotFoundError:
        found = None
    if found is None or found.returncode != 0:
        raise FixError(
            f"{display_path(str(path))} is not in a git repository, so the original could be lost; "
            "use --force to write it anyway (fullgraph fix --undo reverts it)"
        )
    if found.stdout.startswith("!!"):
        raise FixError(
            f"{display_path(str(path))} is ignored by git, so the original could be lost; use "
            "--force to write it anyway (fullgraph fix --undo reverts it)"
        )
    if found.stdout.strip():
        raise FixError(
            f"{display_path(str(path))} has uncommitted changes; commit them first, or use --force"
        )

"""Unified diffs of edited files, under the paths that a user knows."""

from __future__ import annotations

import difflib

from fullgraph.fix.model import FixPlan
from fullgraph.fix.source.edits import apply_edits
from fullgraph.fix.source.text import keep_line_endings, split_lines
from fullgraph.model.owners import this_process


def text_diff(path: str, before: str, after: str) -> str:
    """Return the unified diff of two texts of a file; empty if they are equal."""
    name = display_path(path)
    lines = difflib.unified_diff(split_lines(before), split_lines(after), f"a/{name}", f"b/{name}")
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )


def plan_diff(plan: FixPlan) -> str:
    """Return the diff of all files that a plan changes, with the line endings of the files."""
    parts = []
    for path, file in sorted(plan.files.items()):
        with open(path, encoding="utf-8", newline="") as opened:
            before = opened.read()
        after = apply_edits(before.replace("\r\n", "\n"), file.edits)
        parts.append(text_diff(path, before, keep_line_endings(after, before)))
    return "".join(parts)


def display_path(path: str) -> str:
    """Return a path below the working directory, or below the folder of installed packages."""
    return this_process().display_path(path)

"""Unified diffs of edited files, under the paths that a user knows."""

from __future__ import annotations

import difflib

from fullgraph.fix.model import FixPlan
from fullgraph.fix.source.edits import apply_edits_to_file
from fullgraph.fix.source.text import split_lines
from fullgraph.model.owners import this_process
from fullgraph.python_source import read_with_line_ends


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
        before, _ = read_with_line_ends(path)
        parts.append(text_diff(path, before, apply_edits_to_file(before, file.edits)))
    return "".join(parts)


def display_path(path: str) -> str:
    """Return a path below the working directory, or below the folder of installed packages."""
    return this_process().display_path(path)

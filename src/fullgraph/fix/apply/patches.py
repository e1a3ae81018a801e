"""Patches for the changes of code that is not the user's: they are never written to its files."""

from __future__ import annotations

from itertools import count
from pathlib import Path

from fullgraph.files import replace_file
from fullgraph.fix.apply.changes import change_of
from fullgraph.fix.apply.project import Project, package_of
from fullgraph.fix.model import FixPlan
from fullgraph.fix.report.diff import text_diff


def third_party_patches(plan: FixPlan, main_file: str) -> dict[str, str]:
    """Return a patch for each package whose code is not the user's, by the package's name."""
    found: dict[str, str] = {}
    project = Project(main_file)
    for path, file in sorted(plan.files.items()):
        if not project.owns(path):
            package = package_of(path)
            change = change_of(path, file.edits)
            found[package] = found.get(package, "") + text_diff(path, change.before, change.after)
    return found


def write_patch(package: str, patch: str) -> str:
    """Write a patch to the working directory; return its name. No other file is replaced."""
    for number in count(1):
        name = f"fullgraph-{package}{'' if number == 1 else f'-{number}'}.patch"
        path = Path(name)
        if not path.exists():
            replace_file(path, [patch.encode()])
            return name
        if path.is_file() and path.read_bytes() == patch.encode():
            return name
    raise AssertionError

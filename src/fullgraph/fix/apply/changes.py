"""From a plan to the new text of the user's files."""

from __future__ import annotations

import os
from collections.abc import Iterable

from fullgraph.fix.apply.journal import Change
from fullgraph.fix.apply.project import Project
from fullgraph.fix.model import FixError, FixPlan, Settings
from fullgraph.fix.report.diff import display_path
from fullgraph.fix.runtime.dynamo_config import config_imports, config_statements
from fullgraph.fix.source.declined import Declined
from fullgraph.fix.source.edits import Edit, FileEdits, apply_edits_to_file, combine_edits
from fullgraph.fix.source.module_level import insert_settings
from fullgraph.python_source import read_source, read_with_line_ends


def user_changes(plan: FixPlan, main_file: str) -> list[Change]:
    """Return the user's own files with the plan applied; settings go into the main file."""
    project = Project(main_file)
    edits: dict[str, list[FileEdits]] = {}
    for path, file in plan.files.items():
        if project.owns(path):
            # A script is known by the name that it was started with.
            edits.setdefault(os.path.realpath(path), []).append(file)
    if plan.settings:
        path = _file_for_settings(plan.settings, main_file, project)
        edits.setdefault(path, []).append(settings_edits(path, plan.settings))
    return [change_of(path, combine_edits(edits[path])) for path in sorted(edits)]


def change_of(path: str, edits: Iterable[Edit]) -> Change:
    """Return a file as it is now, and with edits."""
    before, encoding = _read(path)
    change = Change(path, before, apply_edits_to_file(before, edits), encoding)
    try:
        change.encoded(change.after)
    except UnicodeEncodeError as error:
        character = change.after[error.start]
        raise FixError(
            f"{display_path(path)} is in {encoding}, which has no {character!r}, so nothing was "
            "written; save it as UTF-8"
        ) from None
    return change


def settings_edits(path: str, settings: Settings) -> FileEdits:
    """Insert statements that set `torch._dynamo.config` where they take effect."""
    text = read_source(path) or ""
    try:
        edits = insert_settings(text, config_imports(settings), config_statements(settings))
    except Declined as declined:
        raise FixError(
            f"the settings cannot be written to {display_path(path)}: {declined.reason}"
        ) from None
    return FileEdits(path, tuple(edits))


def _file_for_settings(settings: Settings, main_file: str, project: Project) -> str:
    """Return the path of the main file; FixError if it is not known or not the user's."""
    path = os.path.realpath(main_file)
    if main_file and project.owns(path):
        return path
    statements = "; ".join((*config_imports(settings), *config_statements(settings)))
    problem = (
        f"{display_path(path)} is not your code" if main_file else "the program has no source file"
    )
    raise FixError(
        f"{problem}, so the settings cannot be written, and nothing was; add these statements by "
        f"hand before anything is compiled: {statements}"
    )


def _read(path: str) -> tuple[str, str]:
    """Return the text of a file, with its line ends, and its encoding."""
    try:
        return read_with_line_ends(path)
    except OSError as error:
        raise FixError(f"cannot read {display_path(path)}: {error.strerror}") from None
    except (SyntaxError, UnicodeDecodeError) as error:
        raise FixError(f"cannot read {display_path(path)}: {error}; save it as UTF-8") from None

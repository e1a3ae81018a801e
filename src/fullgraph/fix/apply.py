"""Writes verified fixes to the user's files, keeps undo data, and writes patches for other code."""

from __future__ import annotations

import ast
import os
import subprocess
import time
from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct, json

from fullgraph.files import replace_file
from fullgraph.fix.model import FixError, FixPlan, Settings
from fullgraph.fix.report.diff import display_path, text_diff
from fullgraph.fix.runtime.dynamo_config import config_imports, config_statements
from fullgraph.fix.source.edits import (
    Edit,
    FileEdits,
    apply_edits_to_file,
    combine_edits,
    insert_lines,
)
from fullgraph.fix.source.module_level import insert_at_top, missing_blank_lines, missing_imports
from fullgraph.fix.source.text import parse
from fullgraph.folders import undo_folder
from fullgraph.model.owners import YOURS, this_process
from fullgraph.python_source import read_with_line_ends


class Change(Struct, frozen=True):
    """A file before and after `--apply`."""

    path: str
    before: str
    after: str
    encoding: str = "utf-8"

    def encoded(self, text: str) -> bytes:
        """Return a text of this file as bytes; a byte order mark is part of some encodings."""
        return text.encode(self.encoding)


class Changes(Struct, frozen=True):
    """The files that one `--apply` wrote."""

    changes: tuple[Change, ...]


def user_changes(plan: FixPlan, main_file: str) -> list[Change]:
    """Return the user's own files with the plan applied; settings go into the main file."""
    # A script is known by the name that it was started with.
    edits = {
        os.path.realpath(path): [file] for path, file in plan.files.items() if is_users_own(path)
    }
    if plan.settings:
        path = _file_for_settings(plan.settings, main_file)
        edits.setdefault(path, []).append(settings_edits(path, plan.settings))
    return [_change(path, combine_edits(edits[path])) for path in sorted(edits)]


def _file_for_settings(settings: Settings, main_file: str) -> str:
    """Return the path of the main file; FixError if it is not known or not the user's."""
    path = os.path.realpath(main_file)
    if main_file and is_users_own(path):
        return path
    statements = "; ".join((*config_imports(settings), *config_statements(settings)))
    problem = (
        f"{display_path(path)} is not your code" if main_file else "the program has no source file"
    )
    raise FixError(
        f"{problem}, so the settings cannot be written, and nothing was; add these statements by "
        f"hand before anything is compiled: {statements}"
    )


def _change(path: str, edits: Iterable[Edit]) -> Change:
    before, encoding = _read(path)
    return Change(path, before, apply_edits_to_file(before, edits), encoding)


def is_users_own(path: str) -> bool:
    """Return whether a file is the user's: neither torch's, nor Python's, nor a library's."""
    return this_process().owner_of(path) == YOURS


def settings_edits(path: str, settings: Settings) -> FileEdits:
    """Insert statements that set `torch._dynamo.config` below the imports of a script."""
    text = _read(path)[0].replace("\r\n", "\n")
    edits = insert_at_top(text, missing_imports(text, config_imports(settings)), [])
    statements = [each for each in config_statements(settings) if each not in text]
    if statements:
        tree = parse(text)
        lines = [
            node.end_lineno or node.lineno
            for node in (tree.body if tree else ())
            if isinstance(node, ast.Import | ast.ImportFrom)
        ]
        line = max(lines, default=0) + 1
        added = ["", *statements, *missing_blank_lines(text, line, 1)]
        edits.append(insert_lines(text, line, added))
    return FileEdits(path, tuple(edits))


def _read(path: str) -> tuple[str, str]:
    """Return the text of a file, with its line ends, and its encoding."""
    try:
        return read_with_line_ends(path)
    except (SyntaxError, UnicodeDecodeError) as error:
        raise FixError(f"cannot read {display_path(path)}: {error}; save it as UTF-8") from None


def apply_changes(changes: list[Change], *, force: bool) -> None:
    """Write all files or none, and keep what `--undo` needs."""
    for change in changes:
        if not os.access(change.path, os.W_OK):
            raise FixError(f"{display_path(change.path)} is read-only; make it writable")
    if not force:
        for change in changes:
            require_clean(change.path)
    _remember(changes)
    written: list[Change] = []
    try:
        for change in changes:
            replace_file(change.path, [change.encoded(change.after)])
            written.append(change)
    except BaseException:
        for change in written:
            replace_file(change.path, [change.encoded(change.before)])
        raise


def require_clean(file: str) -> None:
    """Check that git has the file as it is, so that nothing can be lost."""
    path = Path(file)
    try:
        found = subprocess.run(
            ["git", "status", "--porcelain", "--", path.name],
            cwd=path.parent, capture_output=True, text=True, check=False,
        )  # fmt: skip
    except FileNotFoundError:
        found = None
    if found is None or found.returncode != 0:
        raise FixError(
            f"{display_path(str(path))} is not in a git repository, so the original could be lost; "
            "use --force to write it anyway (fullgraph fix --undo reverts it)"
        )
    if found.stdout.strip():
        raise FixError(
            f"{display_path(str(path))} has uncommitted changes; commit them first, or use --force"
        )


def _remember(changes: list[Change]) -> None:
    folder = undo_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FixError(
            f"cannot keep what --undo needs in {folder} ({error.strerror}); set FULLGRAPH_HOME"
        ) from None
    replace_file(folder / f"{time.time_ns():020d}.json", [json.encode(Changes(tuple(changes)))])


def undo(*, force: bool, script: str | None = None) -> list[str]:
    """Restore the files of the last `--apply` that wrote a script, or a file below this folder.

    Returns their paths.
    """
    file, last = _undo_data(script)
    if not force:
        for change in last.changes:
            _require_as_written(change)
    for change in last.changes:
        replace_file(change.path, [change.encoded(change.before)])
    file.unlink()
    return [display_path(change.path) for change in last.changes]


def _require_as_written(change: Change) -> None:
    name = display_path(change.path)
    if not os.path.exists(change.path):
        raise FixError(f"{name} is gone; use --force to write the old text anyway")
    if Path(change.path).read_bytes() != change.encoded(change.after):
        raise FixError(
            f"{name} was changed after the fix; use --force to restore the old text anyway"
        )


def _undo_data(script: str | None) -> tuple[Path, Changes]:
    """Return the newest undo data of a script, or of any file below this folder."""
    wanted = os.path.realpath(script or os.curdir)
    other = ""
    for file in sorted(undo_folder().glob("*.json"), reverse=True):
        found = json.decode(file.read_bytes(), type=Changes)
        paths = [os.path.realpath(change.path) for change in found.changes]
        # A folder that was removed took its files with it.
        if not all(os.path.isdir(os.path.dirname(path)) for path in paths):
            continue
        if any(path == wanted or path.startswith(wanted + os.sep) for path in paths):
            return file, found
        other = other or paths[0]
    if script is not None:
        raise FixError(f"no --apply wrote {script}; fullgraph fix --undo reverts the last one here")
    if other:
        raise FixError(
            f"no --apply wrote a file in this folder; to revert the last one: "
            f"fullgraph fix --undo {other}"
        )
    raise FixError("there is nothing to revert; only files that --apply wrote can be")


def third_party_patches(plan: FixPlan) -> dict[str, str]:
    """Return a patch for each package whose code is not the user's, by the package's name."""
    found: dict[str, str] = {}
    for path, file in sorted(plan.files.items()):
        package = this_process().owner_of(path)
        if package != YOURS:
            change = _change(path, file.edits)
            found[package] = found.get(package, "") + text_diff(path, change.before, change.after)
    return found

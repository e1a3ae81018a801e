"""Writing fixes to files, and taking them back."""

from __future__ import annotations

import ast
import os
import subprocess
import time
from pathlib import Path
from typing import Any

from msgspec import Struct, json
from msgspec.structs import replace

from fullgraph.files import replace_file
from fullgraph.fix.model import MendError, Plan
from fullgraph.fix.report.build import shown_path, text_diff
from fullgraph.fix.runtime.dynamo_config import lines_of, modules_of
from fullgraph.fix.source import text as source


class Change(Struct, frozen=True):
    path: str
    before: str
    after: str


class Changes(Struct, frozen=True):
    """What one `--apply` wrote."""

    changes: tuple[Change, ...]


def own_changes(plan: Plan, own: set[str], script: str | None) -> list[Change]:
    """The files that are the user's, as they would be; settings go into the script."""
    # A script is known by the name that it was started with.
    texts = {os.path.realpath(path): plan.files[path].text for path in own & set(plan.files)}
    if plan.settings and script is not None:
        script = os.path.realpath(script)
        texts[script] = with_settings(texts.get(script) or _read(script), plan.settings)
    changes = (Change(path, _read(path), text) for path, text in sorted(texts.items()))
    return [replace(each, after=source.with_ends_of(each.after, each.before)) for each in changes]


def with_settings(text: str, settings: dict[str, Any]) -> str:
    """The script with settings behind its imports."""
    imports = tuple(f"import {module}" for module in modules_of(settings))
    text, _ = source.with_imports(text, imports)
    last = max(
        node.end_lineno or node.lineno
        for node in ast.parse(text).body
        if isinstance(node, ast.Import | ast.ImportFrom)
    )
    rows = source.lines_of(text)
    missing = [f"{line}\n" for line in lines_of(settings) if line not in text]
    return "".join([*rows[:last], "\n", *missing, *rows[last:]]) if missing else text


def _read(path: str) -> str:
    with open(path, encoding="utf-8", newline="") as file:
        return file.read()


def apply_changes(changes: list[Change], *, force: bool) -> None:
    """All or nothing, and only where it can be taken back."""
    for change in changes:
        if not os.access(change.path, os.W_OK):
            raise MendError(f"{shown_path(change.path)} is read-only: nothing was written")
    if not force:
        for change in changes:
            require_clean(change.path)
    _remember(changes)
    written: list[Change] = []
    try:
        for change in changes:
            replace_file(change.path, [change.after.encode()])
            written.append(change)
    except BaseException:
        for change in written:
            replace_file(change.path, [change.before.encode()])
        raise


def require_clean(file: str) -> None:
    """That git could give the file back as it is."""
    path = Path(file)
    try:
        found = subprocess.run(
            ["git", "status", "--porcelain", "--", path.name],
            cwd=path.parent, capture_output=True, text=True, check=False,
        )  # fmt: skip
    except FileNotFoundError:
        found = None
    if found is None or found.returncode != 0:
        raise MendError(
            f"{shown_path(str(path))} is not in a git repository, so a change could get lost: use "
            "--force to write it all the same (fullgraph fix --undo takes it back)"
        )
    if found.stdout.strip():
        raise MendError(
            f"{shown_path(str(path))} has uncommitted changes: commit them first, or use --force"
        )


# Taking back


def _home() -> Path:
    from fullgraph.capture.store import sessions_folders

    return sessions_folders()[0].parent / "fixes"


def _remember(changes: list[Change]) -> None:
    folder = _home()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise MendError(
            f"cannot keep what --undo needs in {folder} ({error.strerror}): set FULLGRAPH_HOME"
        ) from None
    replace_file(folder / f"{time.time_ns():020d}.json", [json.encode(Changes(tuple(changes)))])


def undo(*, force: bool) -> list[str]:
    """Put the files of the last `--apply` back; says which."""
    folder = _home()
    kept = sorted(folder.glob("*.json")) if folder.is_dir() else []
    if not kept:
        raise MendError("there is nothing to take back: no fix was applied")
    last = json.decode(kept[-1].read_bytes(), type=Changes)
    for change in last.changes:
        if not force and (not os.path.exists(change.path) or _read(change.path) != change.after):
            raise MendError(
                f"{shown_path(change.path)} was changed after the fix: use --force to put the old "
                "text back all the same"
            )
    for change in last.changes:
        replace_file(change.path, [change.before.encode()])
    kept[-1].unlink()
    return [shown_path(change.path) for change in last.changes]


def upstream_patches(plan: Plan, own: set[str]) -> dict[str, str]:
    """For code that is somebody else's: a patch for each package, by its name."""
    found: dict[str, str] = {}
    for path, patch in sorted(plan.files.items()):
        if path not in own:
            package = shown_path(path).replace("\\", "/").split("/", 1)[0].removesuffix(".py")
            before = _read(path)
            new = source.with_ends_of(patch.text, before)
            found[package] = found.get(package, "") + text_diff(path, before, new)
    return found

"""Find all files of the user's program: those that were seen, and what they import."""

from __future__ import annotations

import ast
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from fullgraph.analysis.user_lines.source_file import SourceFile
from fullgraph.model.owners import YOURS, Owners, is_generated

_MOST_FILES = 2000
# In a checkout, our own files belong to the user; they are no part of the program.
_FULLGRAPH = f"{Path(__file__).parents[2]}{os.sep}"
OpenFile = Callable[[str], SourceFile | None]


class ProgramFiles:
    """The files of one process; `complete` is False if one of them cannot be read as it was."""

    def __init__(self, files: list[SourceFile], complete: bool) -> None:
        self.files = files
        self.complete = complete


def find_program_files(
    seen: Iterable[str], folders: Iterable[str], owners: Owners, open_file: OpenFile
) -> ProgramFiles:
    """Return the user's files among `seen`, and those that they import from these folders."""
    pending = [path for path in seen if _is_yours(path, owners)]
    roots = list(dict.fromkeys([*folders, *(_import_root(path) for path in pending)]))
    known = set(pending)
    files: list[SourceFile] = []
    complete = True
    while pending and len(known) < _MOST_FILES:
        file = open_file(pending.pop())
        if file is None:
            complete = False
            continue
        files.append(file)
        for path in _imported(file, roots):
            if path not in known and _is_yours(path, owners):
                known.add(path)
                pending.append(path)
    return ProgramFiles(files, complete and not pending)


def _is_yours(path: str, owners: Owners) -> bool:
    if path.startswith(_FULLGRAPH):
        return False
    return owners.owner_of(path) == YOURS and not is_generated(path)


def _import_root(path: str) -> str:
    """Return the folder from which a file is imported: above the packages that it is in."""
    folder = os.path.dirname(path)
    while os.path.exists(os.path.join(folder, "__init__.py")) and folder != os.path.dirname(folder):
        folder = os.path.dirname(folder)
    return folder


def _imported(file: SourceFile, roots: list[str]) -> Iterator[str]:
    for node in ast.walk(file.tree):
        if isinstance(node, ast.Import):
            for each in node.names:
                yield from _files_of(each.name, roots)
        elif isinstance(node, ast.ImportFrom):
            start, module = roots, node.module or ""
            if node.level:
                folder = os.path.dirname(file.path)
                for _ in range(node.level - 1):
                    folder = os.path.dirname(folder)
                start = [folder]
            yield from _files_of(module, start)
            for each in node.names:
                yield from _files_of(f"{module}.{each.name}".strip("."), start)


def _files_of(module: str, roots: list[str]) -> Iterator[str]:
    """Yield the files of a module and of the packages around it."""
    parts = module.split(".") if module else []
    for root in roots:
        for length in range(1, len(parts) + 1):
            stem = os.path.join(root, *parts[:length])
            for path in (f"{stem}.py", os.path.join(stem, "__init__.py")):
                if os.path.isfile(path):
                    yield path

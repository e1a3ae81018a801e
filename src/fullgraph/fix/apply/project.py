"""Which files `--apply` may write: those of the program's own project.

A library is never written, however it is installed. Files that Python, torch or an installed
package own are excluded by their folders (`model/owners.py`). Others may still be a library's: an
editable install, a folder on `PYTHONPATH`, a nested repository. Therefore a file must also be in
the project of the main file, or in that of the working directory. A project is the nearest folder
around a file with a `.git`, a `pyproject.toml` or a similar marker. Without any marker, it is the
folder of the main file, or the working directory if the main file is below it.
"""

from __future__ import annotations

import os
from pathlib import Path

from fullgraph.model.owners import YOURS, this_process

_MARKERS = (".git", ".hg", "pyproject.toml", "setup.py", "setup.cfg", "pyvenv.cfg", "conda-meta")
# Folders that hold libraries, wherever they are.
_LIBRARY_FOLDERS = ("site-packages", "dist-packages")


class Project:
    """The project of a program, by its main file; without one, that of the working directory."""

    def __init__(self, main_file: str) -> None:
        starts = [Path(os.path.realpath(os.curdir))]
        if main_file:
            main = Path(os.path.realpath(main_file))
            here = starts[0]
            is_special = here == Path.home() or here.parent == here
            starts = [main.parent, *([here] if here in main.parents and not is_special else [])]
            if (root := _root_of(here / "file")) is not None and root not in starts:
                starts.append(root)
        self._roots = {_root_of(start / "file") for start in starts} - {None}
        # Without a marker, these folders themselves.
        self._folders = [start for start in starts if _root_of(start / "file") is None]

    @property
    def folders(self) -> list[str]:
        """The folders that belong to the project."""
        roots = [each for each in self._roots if each is not None]
        return [str(each) for each in (*roots, *self._folders)]

    def owns(self, path: str) -> bool:
        """Return whether a file belongs to the project, and to no library."""
        real = Path(os.path.realpath(path))
        owners = this_process()
        if {owners.owner_of(path), owners.owner_of(str(real))} != {YOURS}:
            return False
        root = _root_of(real)
        if root is not None:
            return root in self._roots
        return any(folder in real.parents for folder in self._folders)


def package_of(path: str) -> str:
    """Return the name of the library that a file outside of the project belongs to."""
    owner = this_process().owner_of(path)
    if owner != YOURS:
        return owner
    module = Path(os.path.realpath(path))
    while (module.parent / "__init__.py").exists():
        module = module.parent
    return module.stem


def _root_of(file: Path) -> Path | None:
    """Return the nearest folder around a file that is a project; None without one."""
    for folder in file.parents:
        if folder.name in _LIBRARY_FOLDERS or any((folder / each).exists() for each in _MARKERS):
            return folder
    return None

"""Who owns a file: the user, torch, Python, or a library.

The answer comes from folders, never from the names of folders: a project may live below a folder
that is named `site-packages`, and an editable install of a library lives outside of it. The longest
folder that contains the file decides. An editable install is the user's, because the user can edit
it; the parts of a namespace package share their first name.
"""

from __future__ import annotations

import os
import site
import sys
import sysconfig
from collections.abc import Iterable, Sequence
from functools import cache
from typing import NamedTuple, Protocol

from fullgraph.model.events import Frame

YOURS = "yours"
TORCH = "torch"
PYTHON = "python"
# The top-level packages of the distribution `torch`.
_PARTS_OF_TORCH = ("torch", "torchgen", "functorch")
# Code that a user has typed has no file either.
_TYPED_CODE = ("<stdin>", "<ipython-input-", "<python-input-")
# A session may come from another operating system.
_SEPARATORS = "/\\"


class ProcessFolders(Protocol):
    """The folders of one process; the header of a session has them."""

    @property
    def directory(self) -> str:
        """The working directory."""

    @property
    def torch_folder(self) -> str:
        """The folder of the package `torch`; empty if it was not imported."""

    @property
    def stdlib_folders(self) -> tuple[str, ...]:
        """The folders of the standard library."""

    @property
    def package_folders(self) -> tuple[str, ...]:
        """The folders of installed packages."""


class Folders(NamedTuple):
    """The folders of one process, as values."""

    directory: str
    torch_folder: str
    stdlib_folders: tuple[str, ...]
    package_folders: tuple[str, ...]


class Owners:
    """Knows the owners of files in some processes, which may have run on another machine."""

    def __init__(self, processes: Sequence[ProcessFolders]) -> None:
        self._directories = _unique(process.directory for process in processes)
        self._packages = package_folders(processes)
        self._folders = _owners_by_folder(processes)
        self._known: dict[str, str] = {}

    def owner_of(self, file: str) -> str:
        """Return "yours", "torch", "python" or the name of a library."""
        if file not in self._known:
            self._known[file] = self._look_up(file)
        return self._known[file]

    def owner_of_stack(self, frames: Sequence[Frame]) -> str:
        """Return the owner of the innermost frame outside of Python's standard library.

        A break inside `copy.py` belongs to the code that calls it.
        """
        owners = (self.owner_of(frame.file) for frame in reversed(frames))
        return next((owner for owner in owners if owner != PYTHON), YOURS)

    def user_frame(self, frames: Sequence[Frame]) -> Frame | None:
        """Return the innermost frame in the user's own code; None if there is none.

        Generated code counts only if there is no other: it may be the `__init__` of a data class
        of a library.
        """
        owned = [frame for frame in reversed(frames) if self.owner_of(frame.file) == YOURS]
        in_files = [frame for frame in owned if not is_generated(frame.file)]
        return next(iter(in_files or owned), None)

    def editable_frame(self, frames: Sequence[Frame]) -> Frame | None:
        """Return the innermost frame in the code of the user or of a library; None without one."""
        return next((f for f in reversed(frames) if not self.is_torch_or_stdlib(f.file)), None)

    def line_of_user(self, frame: Frame, stack: Sequence[Frame]) -> Frame | None:
        """Return the user's line that leads to `frame` in other code; None if it is the user's."""
        return None if self.owner_of(frame.file) == YOURS else self.user_frame(stack)

    def shown_frame(self, frame: Frame, stack: Sequence[Frame]) -> Frame | None:
        """Return the nearest line that a reader can edit; None if that is `frame` itself."""
        return self.editable_frame(stack) if self.is_torch_or_stdlib(frame.file) else None

    def is_torch_or_stdlib(self, file: str) -> bool:
        """Return whether a file belongs to torch or to Python itself, or is generated code."""
        return is_generated(file) or self.owner_of(file) in (TORCH, PYTHON)

    def display_path(self, file: str) -> str:
        """Return the path to show: relative to the working directory or to the package folder."""
        return display_path(file, self._directories, self._packages)

    def _look_up(self, file: str) -> str:
        if file.startswith("<frozen"):
            return PYTHON
        if file.startswith("<eval_with_key>"):
            # torch compiled this code from a graph.
            return TORCH
        found = _longest(file, self._folders)
        if found is None:
            return YOURS
        owner = self._folders[found]
        return owner if owner is not None else _library(_below(file, found))


def is_generated(file: str) -> bool:
    """Return whether code has no file that a reader could open, as in `<string>`."""
    return file.startswith("<") and not file.startswith(_TYPED_CODE)


def display_path(file: str, directories: Iterable[str], packages: Iterable[str]) -> str:
    """Return `file` relative to the longest of these folders that contains it."""
    found = _longest(file, [*packages, *directories])
    return file if found is None else _below(file, found)


def package_folders(processes: Sequence[ProcessFolders]) -> tuple[str, ...]:
    """Return the folders below which the files of libraries and of torch are."""
    torch = (_parent(process.torch_folder) for process in processes)
    installed = (folder for process in processes for folder in process.package_folders)
    return _unique([*installed, *torch])


@cache
def this_process() -> Owners:
    """Return the owners of files in this process."""
    return Owners([folders_of_this_process()])


def folders_of_this_process() -> Folders:
    """Return the folders of this process; torch is not imported for that."""
    paths = sysconfig.get_paths()
    return Folders(
        directory=_working_directory(),
        torch_folder=_torch_folder(),
        stdlib_folders=_with_targets(paths["stdlib"], paths["platstdlib"]),
        package_folders=_with_targets(paths["purelib"], paths["platlib"], *_site_packages()),
    )


def _torch_folder() -> str:
    file: str | None = getattr(sys.modules.get("torch"), "__file__", None)
    if file:
        return os.path.dirname(file)
    # Imported here because the model does not depend on the registry otherwise.
    from fullgraph.installed_torch import torch_folder

    return str(torch_folder() or "")


def _working_directory() -> str:
    try:
        return os.getcwd()
    except OSError:
        return ""


def _site_packages() -> list[str]:
    # Absent if the interpreter was started with -S or from an old virtualenv.
    folders: list[str] = getattr(site, "getsitepackages", list)()
    return [*folders, site.getusersitepackages()]


def _with_targets(*paths: str | None) -> tuple[str, ...]:
    """Return the paths and the targets of their symbolic links: a stack may show either."""
    given = [path for path in paths if path]
    return _unique([*given, *map(os.path.realpath, given)])


def _owners_by_folder(processes: Sequence[ProcessFolders]) -> dict[str, str | None]:
    """Map each known folder to its owner; None for a folder of libraries."""
    owners: dict[str, str | None] = {}
    for process in processes:
        owners[process.directory] = YOURS
    for process in processes:
        owners |= dict.fromkeys(process.stdlib_folders, PYTHON)
        owners |= dict.fromkeys(process.package_folders)
        if process.torch_folder:
            parent = _parent(process.torch_folder)
            owners |= {_join(parent, name): TORCH for name in _PARTS_OF_TORCH}
    return owners


def _longest(file: str, folders: Iterable[str]) -> str | None:
    containing = [folder for folder in folders if folder and _contains(folder, file)]
    return max(containing, key=len, default=None)


def _contains(folder: str, file: str) -> bool:
    stem = folder.rstrip(_SEPARATORS)
    return file.startswith((f"{stem}/", f"{stem}\\"))


def _below(file: str, folder: str) -> str:
    return file[len(folder) :].lstrip(_SEPARATORS)


def _library(path: str) -> str:
    """Return the name of the top-level package or module at the start of a path."""
    return path.replace("\\", "/").split("/", 1)[0].removesuffix(".py")


def _parent(folder: str) -> str:
    return folder[: max(folder.rfind("/"), folder.rfind("\\"), 0)]


def _join(folder: str, name: str) -> str:
    separator = "/" if "/" in folder else "\\"
    return f"{folder}{separator}{name}"


def _unique(paths: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(path for path in paths if path))

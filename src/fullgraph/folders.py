"""The folders in which fullgraph keeps its own files: sessions, undo data and registries.

`FULLGRAPH_HOME` names one folder for all of them. Otherwise each kind of file goes to the folder
that the operating system has for it.
"""

from __future__ import annotations

import os
from pathlib import Path


def sessions_folders() -> list[Path]:
    """Return the folders for sessions: the preferred one, then the one to use if that fails."""
    folder = _state_folder("sessions")
    return [folder] if _home() else [folder, _temporary_folder() / "sessions"]


def undo_folder() -> Path:
    """Return the folder for the data that `fullgraph fix --undo` needs."""
    return _state_folder("fixes")


def consents_file() -> Path:
    """Return the file with the projects in which changed code may run."""
    return _state_folder("consents") / "projects.txt"


def registry_cache_folder() -> Path:
    """Return the folder for downloaded registries."""
    if home := _home():
        return home / "registry"
    # platformdirs takes 10 ms to import.
    from platformdirs import user_cache_path

    earlier = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
    folder = user_cache_path("fullgraph", appauthor=False) / "registry"
    return _existing(folder, earlier, "registry")


def _home() -> Path | None:
    home = os.environ.get("FULLGRAPH_HOME")
    return Path(home) if home else None


def _state_folder(name: str) -> Path:
    if home := _home():
        return home / name
    from platformdirs import user_state_path

    earlier = Path(os.environ.get("XDG_STATE_HOME") or "~/.local/state").expanduser()
    return _existing(user_state_path("fullgraph", appauthor=False) / name, earlier, name)


def _existing(preferred: Path, earlier: Path, name: str) -> Path:
    """Return `preferred`, unless only the folder of earlier versions of fullgraph exists.

    Earlier versions used the Linux folders on macOS and Windows too.
    """
    used_before = earlier / "fullgraph" / name
    return used_before if used_before.is_dir() and not preferred.is_dir() else preferred


def _temporary_folder() -> Path:
    import tempfile

    user = os.getuid() if hasattr(os, "getuid") else "user"
    return Path(tempfile.gettempdir()) / f"fullgraph-{user}"

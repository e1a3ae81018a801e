"""Where `fullgraph run` keeps what it captured, so that `fullgraph report` finds it."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

from fullgraph.errors import SessionError
from fullgraph.folders import sessions_folders

# Names the folder that a captured process writes its session to; child processes inherit it.
CAPTURE_VARIABLE = "FULLGRAPH_CAPTURE"
_KEPT = 20


def new_session() -> Path:
    """Create an empty folder for one run, remove old ones beyond the last few, and return it."""
    name = f"{time.strftime('%Y%m%d-%H%M%S')}-{time.time_ns() % 10**9:09d}-{os.getpid()}"
    problem = ""
    for folder in sessions_folders():
        try:
            (folder / name).mkdir(parents=True, mode=0o700)
        except OSError as error:
            problem = f"cannot keep the session in {folder}: {error.strerror or error}"
            continue
        for old in _newest_first([folder])[_KEPT:]:
            if not _is_running(old):
                shutil.rmtree(old, ignore_errors=True)
        return folder / name
    raise SessionError(f"{problem}; name another folder with --session")


def prepare_session(folder: Path) -> Path:
    """Create a folder that the user named and return it; SessionError if it is not empty.

    Sessions of an earlier run in it would be merged with this one.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        held = next(folder.iterdir(), None)
    except OSError as error:
        raise SessionError(
            f"cannot keep the session in {folder}: {error.strerror}; name another folder"
        ) from None
    if held is not None:
        raise SessionError(f"{folder} is not empty; name a new folder for this session")
    return folder


def last_session() -> Path:
    """Return the folder of the newest session; SessionError if there is none."""
    found = kept_sessions()
    if not found:
        raise SessionError(
            "there is no earlier run to report on: start one with fullgraph run SCRIPT, or name a "
            "session file"
        )
    return found[0]


def kept_sessions() -> list[Path]:
    """Return the folders of all sessions, the newest first."""
    return _newest_first(sessions_folders())


def _newest_first(folders: list[Path]) -> list[Path]:
    sessions = [path for folder in folders if folder.is_dir() for path in folder.iterdir()]
    return sorted((path for path in sessions if path.is_dir()), key=_name, reverse=True)


def _is_running(session: Path) -> bool:
    """A session is named after the process that keeps it."""
    try:
        os.kill(int(session.name.rsplit("-", 1)[-1]), 0)
    except (ValueError, ProcessLookupError):
        return False
    except OSError:
        return True
    return True


def _name(session: Path) -> str:
    return session.name

"""Where `fullgraph run` keeps what it captured, so that `fullgraph report` finds it."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

from fullgraph.errors import SessionError

# Names the folder that a captured process writes its session to; child processes inherit it.
CAPTURE_VARIABLE = "FULLGRAPH_CAPTURE"
_KEPT = 20


def sessions_folder() -> Path:
    """`FULLGRAPH_HOME`, or the usual place for a program's state."""
    home = os.environ.get("FULLGRAPH_HOME")
    if home:
        return Path(home) / "sessions"
    state = os.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")
    return Path(state) / "fullgraph" / "sessions"


def new_session() -> Path:
    """A new, empty folder for one run; old ones beyond the last few are removed."""
    folder = sessions_folder()
    name = f"{time.strftime('%Y%m%d-%H%M%S')}-{time.time_ns() % 10**9:09d}-{os.getpid()}"
    try:
        (folder / name).mkdir(parents=True)
    except OSError as error:
        raise SessionError(
            f"cannot keep the session in {folder} ({error.strerror}): name another folder with "
            "--session, or set FULLGRAPH_HOME"
        ) from None
    for old in _newest_first(folder)[_KEPT:]:
        shutil.rmtree(old, ignore_errors=True)
    return folder / name


def prepare_session(folder: Path) -> Path:
    """A folder that the user named; sessions of an earlier run would be merged with this one."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        held = next(folder.iterdir(), None)
    except OSError as error:
        raise SessionError(f"cannot keep the session in {folder}: {error.strerror}") from None
    if held is not None:
        raise SessionError(f"{folder} is not empty: name a new folder for this session")
    return folder


def last_session() -> Path:
    found = _newest_first(sessions_folder())
    if not found:
        raise SessionError(
            "there is no earlier run to report on: start one with fullgraph run SCRIPT, or name a "
            "session file"
        )
    return found[0]


def _newest_first(folder: Path) -> list[Path]:
    if not folder.is_dir():
        return []
    return sorted((path for path in folder.iterdir() if path.is_dir()), reverse=True)

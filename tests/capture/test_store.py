"""Sessions of runs: each has a folder, the newest is reported on, and old ones are removed."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from fullgraph.capture import store
from fullgraph.errors import SessionError


@pytest.fixture
def sessions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FULLGRAPH_HOME", str(tmp_path))
    return tmp_path / "sessions"


def test_the_newest_session_is_the_last_one(sessions: Path) -> None:
    with pytest.raises(SessionError, match="there is no earlier run to report on"):
        store.last_session()
    sessions.mkdir()
    for name in ("20250101-000000-1-1", "20260101-000000-1-1", "20240101-000000-1-1"):
        (sessions / name).mkdir()
    (sessions / "20990101-000000-1-1").write_text("not a session")
    assert store.last_session().name == "20260101-000000-1-1"


def test_old_sessions_are_removed_unless_their_process_runs(sessions: Path) -> None:
    sessions.mkdir()
    # Processes that do not run; a name without a number is one that nobody keeps.
    ended = [f"200001{day:02}-000000-1-{2**22 + day}" for day in range(1, 22)]
    for name in (*ended, f"19990101-000000-1-{os.getpid()}", "19980101-000000-odd"):
        (sessions / name).mkdir()
    new = store.new_session()
    assert new.is_dir()
    assert new.stat().st_mode & 0o777 == 0o700
    assert new.name.endswith(f"-{os.getpid()}")
    assert new.name.startswith(time.strftime("%Y%m%d-"))
    kept = {path.name for path in sessions.iterdir()}
    assert kept == {new.name, f"19990101-000000-1-{os.getpid()}", *ended[2:]}
    assert store.last_session() == new


def test_a_session_is_kept_elsewhere_if_the_folder_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    folders = [tmp_path / "file", tmp_path / "other"]
    monkeypatch.setattr(store, "sessions_folders", lambda: folders)
    assert store.new_session().parent == tmp_path / "other"
    monkeypatch.setattr(store, "sessions_folders", lambda: folders[:1])
    with pytest.raises(SessionError, match=r"cannot keep the session in .*file: .*--session"):
        store.new_session()


def test_a_named_folder_must_be_new_or_empty(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    assert store.prepare_session(folder) == folder
    assert store.prepare_session(folder) == folder
    (folder / "x").write_text("")
    with pytest.raises(SessionError, match="is not empty; name a new folder"):
        store.prepare_session(folder)
    with pytest.raises(SessionError, match="cannot keep the session in"):
        store.prepare_session(folder / "x" / "y")

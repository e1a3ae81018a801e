"""Where sessions, undo data and registries are: new files, and files of earlier versions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import platformdirs
import pytest

from fullgraph import folders

FOLDERS: dict[str, Callable[[], Path]] = {
    "sessions": lambda: folders.sessions_folders()[0],
    "fixes": folders.undo_folder,
    "registry": folders.registry_cache_folder,
}
every_folder = pytest.mark.parametrize("name", FOLDERS)


@pytest.fixture(autouse=True)
def platform(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A platform whose folders are not those of Linux, such as macOS."""
    for variable in ("FULLGRAPH_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    library = tmp_path / "Library" / "fullgraph"
    for function in ("user_state_path", "user_cache_path"):
        monkeypatch.setattr(platformdirs, function, lambda *_, **__: library)
    return library


@every_folder
def test_the_platform_decides(name: str, platform: Path) -> None:
    assert FOLDERS[name]() == platform / name


@every_folder
def test_fullgraph_home_holds_everything(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FULLGRAPH_HOME", str(tmp_path / "own"))
    assert FOLDERS[name]() == tmp_path / "own" / name
    assert folders.sessions_folders() == [tmp_path / "own" / "sessions"]


@every_folder
def test_files_of_earlier_versions_are_still_found(
    name: str, platform: Path, tmp_path: Path
) -> None:
    base = ".cache" if name == "registry" else ".local/state"
    earlier = tmp_path / base / "fullgraph" / name
    earlier.mkdir(parents=True)
    assert FOLDERS[name]() == earlier
    (platform / name).mkdir(parents=True)
    assert FOLDERS[name]() == platform / name


def test_linux_keeps_its_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    unix = pytest.importorskip("platformdirs.unix").Unix("fullgraph", False)
    monkeypatch.setattr(platformdirs, "user_state_path", lambda *_, **__: unix.user_state_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    assert folders.undo_folder() == tmp_path / "state" / "fullgraph" / "fixes"
    monkeypatch.delenv("XDG_STATE_HOME")
    assert folders.undo_folder() == tmp_path / ".local" / "state" / "fullgraph" / "fixes"


def test_sessions_go_to_a_temporary_folder_if_the_home_is_read_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    _, fallback = folders.sessions_folders()
    assert fallback.parent.parent == tmp_path / "tmp"
    assert fallback.name == "sessions"

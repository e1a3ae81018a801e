"""Writing files: an existing file is not lost."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from fullgraph.errors import FullgraphError
from fullgraph.files import check_writable, replace_file, unreadable


def failing() -> object:
    yield b"half"
    raise OSError("disk full")


def test_a_write_that_fails_keeps_the_old_content_and_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "report"
    path.write_text("old")
    with pytest.raises(FullgraphError, match="disk full"):
        replace_file(path, failing())  # type: ignore[arg-type]
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_the_permissions_stay(tmp_path: Path) -> None:
    file = tmp_path / "train.py"
    file.write_text("old")
    file.chmod(0o750)
    replace_file(file, [b"new"])
    assert (file.read_text(), file.stat().st_mode & 0o777) == ("new", 0o750)


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to("real")
    replace_file(tmp_path / "link", [b"new"])
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"


def test_a_pipe_is_written_to_and_stays_a_pipe(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(path.read_text()))
    reader.start()
    replace_file(path, [b"through ", b"the pipe"])
    reader.join()
    assert read == ["through the pipe"]
    assert path.is_fifo()


def test_a_path_that_cannot_be_written_is_an_error_before_the_run(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "missing" / "file"):
        with pytest.raises(FullgraphError, match="cannot write"):
            check_writable(path)


@pytest.mark.parametrize(
    ("error", "remedy"),
    [
        (FileNotFoundError(2, "No such file or directory"), "check the path"),
        (PermissionError(13, "Permission denied"), "check its permissions"),
    ],
)
def test_a_file_that_cannot_be_read_has_a_reason_and_a_remedy(error: OSError, remedy: str) -> None:
    assert unreadable("a.json", error) == f"cannot read a.json: {error.strerror}; {remedy}"

"""What is written to files, beyond what `tests/commands/test_fix.py` sees of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from fullgraph.fix.apply import apply_changes, own_changes, undo, upstream_patches
from fullgraph.fix.model import FilePatch, Plan

WINDOWS = b"import torch\r\n\r\nx = 1\r\ny = 2\r\n"


@pytest.fixture
def plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Plan]:
    """A file with Windows' line ends, and a plan as fixers make it: with Python's."""
    monkeypatch.setenv("FULLGRAPH_HOME", str(tmp_path / "home"))
    file = tmp_path / "program.py"
    file.write_bytes(WINDOWS)
    text = "import torch\n\nx = 3\ny = 2\n"
    return file, Plan({str(file): FilePatch(str(file), text)})


@pytest.mark.parametrize("settings", [{}, {"capture_scalar_outputs": True}])
def test_line_ends_stay(plan: tuple[Path, Plan], settings: dict[str, bool]) -> None:
    file, changes = plan
    changes = changes.with_settings(settings)
    apply_changes(own_changes(changes, {str(file)}, str(file)), force=True)
    written = file.read_bytes()
    assert b"x = 3\r\ny = 2\r\n" in written
    assert written.count(b"\n") == written.count(b"\r\n")
    assert (b"\ntorch._dynamo.config.capture_scalar_outputs = True" in written) == bool(settings)
    undo(force=False)
    assert file.read_bytes() == WINDOWS


def test_a_patch_for_upstream_has_only_what_changes(plan: tuple[Path, Plan]) -> None:
    _, changes = plan
    [patch] = upstream_patches(changes, set()).values()
    changed = [
        line for line in patch.split("\n") if line[:1] in "+-" and line[1:3] not in ("--", "++")
    ]
    assert changed[:-1] == ["-x = 1\r", "+x = 3\r"]

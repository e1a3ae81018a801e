"""What is written to files, beyond what `tests/commands/test_fix.py` sees of it."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from msgspec.structs import replace

from fullgraph.fix.apply import apply_changes, is_users_own, third_party_patches, undo, user_changes
from fullgraph.fix.model import FixPlan, Settings
from fullgraph.fix.source.edits import FileEdits, insert_lines

WINDOWS = b"import torch\r\n\r\nx = 1\r\ny = 2\r\n"


@pytest.fixture
def plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, FixPlan]:
    """A file with the line endings of Windows, and a plan as fixers make it: with Python's."""
    monkeypatch.setenv("FULLGRAPH_HOME", str(tmp_path / "home"))
    file = tmp_path / "program.py"
    file.write_bytes(WINDOWS)
    text = WINDOWS.decode().replace("\r\n", "\n")
    edits = (insert_lines(text, 4, ["x = 3"]),)
    return file, FixPlan({str(file): FileEdits(str(file), edits)})


@pytest.mark.parametrize("settings", [{}, {"capture_scalar_outputs": True}])
def test_line_endings_stay(plan: tuple[Path, FixPlan], settings: Settings) -> None:
    file, changes = plan
    changes = replace(changes, settings=settings)
    apply_changes(user_changes(changes, str(file)), force=True)
    written = file.read_bytes()
    assert b"x = 1\r\nx = 3\r\ny = 2\r\n" in written
    assert written.count(b"\n") == written.count(b"\r\n")
    assert (b"\ntorch._dynamo.config.capture_scalar_outputs = True" in written) == bool(settings)
    undo(force=False)
    assert file.read_bytes() == WINDOWS


def test_a_change_to_a_library_becomes_a_patch_file_named_after_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = Path(torch.__file__).parent / "__future__.py"
    text = file.read_text()
    plan = FixPlan({str(file): FileEdits(str(file), (insert_lines(text, 1, ["# new"]),))})
    assert user_changes(plan, None) == []
    ((package, patch),) = third_party_patches(plan).items()
    assert package == "torch"
    assert patch.startswith("--- a/torch/__future__.py\n")
    assert "\n+# new\n" in patch


def test_a_file_of_the_user_is_written_wherever_the_break_is(plan: tuple[Path, FixPlan]) -> None:
    """The owner is that of the changed file, not that of the file in which Dynamo stopped."""
    file, changes = plan
    assert is_users_own(str(file))
    assert [Path(each.path) for each in user_changes(changes, None)] == [file]
    assert third_party_patches(changes) == {}

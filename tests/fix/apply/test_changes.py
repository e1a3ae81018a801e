"""What is written to files, beyond what `tests/commands/test_fix.py` sees of it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import torch
from msgspec.structs import replace

from fullgraph.fix.apply import Change, apply_changes, third_party_patches, undo, user_changes
from fullgraph.fix.model import FixError, FixPlan, Settings, combined_plan
from fullgraph.fix.record.program import main_file
from fullgraph.fix.source.context import BreakContext, SourceFile
from fullgraph.fix.source.edits import FileEdits, insert_lines
from fullgraph.model.events import Frame
from tests.fix.break_contexts import candidates_of
from tests.fix.causes import root_cause

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
    undo(force=False, script=str(file))
    assert file.read_bytes() == WINDOWS


SETTING = b"torch._dynamo.config.capture_scalar_outputs = True"
COMMENTED = b"import torch\n# torch._dynamo.config.capture_scalar_outputs = True\n\nx = 1\n"


@pytest.mark.parametrize(
    "content",
    [
        COMMENTED,
        b"#!/usr/bin/env python3\nx = 1\n",
        b"import torch\n\x0c\nclass A:\n\tx: int = 1  # tabs and a form feed",
        b"import torch; torch.manual_seed(0)\nx = 1 \\\n    + 1\n",
        b"import torch\rx = 1\ry = 2\r",
        b"\xef\xbb\xbfimport torch\n\nx = 1  # caf\xc3\xa9\n",
        b"# -*- coding: latin-1 -*-\nimport torch\n\nx = 1  # caf\xe9\n",
        b"import torch\r\n\nx = 1  # mixed\r\n",
    ],
)
def test_encodings_and_mixed_line_ends_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes
) -> None:
    monkeypatch.setenv("FULLGRAPH_HOME", str(tmp_path / "home"))
    file = tmp_path / "program.py"
    file.write_bytes(content)
    file.chmod(0o751)
    settings: Settings = {"capture_scalar_outputs": True}
    apply_changes(user_changes(FixPlan(settings=settings), str(file)), force=True)
    written = file.read_bytes()
    assert written.count(SETTING) == content.count(SETTING) + 1
    kept = written.splitlines(keepends=True)
    # The last line may get an end.
    ends = (b"", b"\n")
    lost = [line for line in content.splitlines(keepends=True) if line not in kept]
    assert [line for line in lost if not any(line + end in kept for end in ends)] == []
    compile(written, str(file), "exec")
    assert file.stat().st_mode & 0o777 == 0o751
    undo(force=False, script=str(file))
    assert file.read_bytes() == content
    assert file.stat().st_mode & 0o777 == 0o751


def test_settings_are_set_below_the_imports(tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text("import os\n\nimport torch\n\nx = torch.ones(2)\n")
    (change,) = user_changes(FixPlan(settings={"capture_scalar_outputs": True}), str(file))
    assert change.after.splitlines() == [
        "import os",
        "",
        "import torch",
        "import torch._dynamo",
        "",
        "torch._dynamo.config.capture_scalar_outputs = True",
        "",
        "x = torch.ones(2)",
    ]


def test_undo_reverts_what_was_written_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FULLGRAPH_HOME", str(tmp_path / "home"))
    with pytest.raises(FixError, match="nothing to revert"):
        undo(force=False)
    files = [tmp_path / name / "program.py" for name in ("mine", "later", "gone")]
    for file in files:
        file.parent.mkdir()
        file.write_text("old\n")
        apply_changes([Change(str(file), "old\n", "new\n")], force=True)
        file.write_text("new\n")
    mine, later, gone = files
    shutil.rmtree(gone.parent)
    monkeypatch.chdir(mine.parent)
    undo(force=False)
    assert (mine.read_text(), later.read_text()) == ("old\n", "new\n")
    with pytest.raises(FixError, match=f"fullgraph fix --undo {later}"):
        undo(force=False)
    with pytest.raises(FixError, match="no --apply wrote program"):
        undo(force=False, script="program.py")
    later.write_text("changed\n")
    with pytest.raises(FixError, match="was changed after the fix"):
        undo(force=False, script=str(later))
    later.unlink()
    with pytest.raises(FixError, match="is gone"):
        undo(force=False, script=str(later))
    undo(force=True, script=str(later))
    assert later.read_text() == "old\n"


def test_a_change_to_a_library_becomes_a_patch_file_named_after_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = Path(torch.__file__).parent / "__future__.py"
    text = file.read_text()
    plan = FixPlan({str(file): FileEdits(str(file), (insert_lines(text, 1, ["# new"]),))})
    assert user_changes(plan, "") == []
    ((package, patch),) = third_party_patches(plan, "").items()
    assert package == "torch"
    assert patch.startswith("--- a/torch/__future__.py\n")
    assert "\n+# new\n" in patch


def test_a_file_of_the_user_is_written_for_a_break_inside_torch(tmp_path: Path) -> None:
    """The owner is that of the changed file, not that of the file in which Dynamo stopped."""
    file = tmp_path / "program.py"
    file.write_text("import torch\n\ndef f(x):\n    print(x.shape)\n    return x + 1\n")
    frames = (Frame(str(file), 4, "f", 5), Frame(torch.__file__, 1, "helper", 1))
    cause = root_cause(id="GB0059", file=torch.__file__, line=1, owner="torch", stack=frames)
    source = SourceFile(str(file), file.read_text())
    (candidate,) = candidates_of(
        "skip_logging", BreakContext(cause, {str(file): source, torch.__file__: source}.get)
    )
    changes = combined_plan([candidate])
    assert [Path(each.path) for each in user_changes(changes, str(file))] == [file]
    assert third_party_patches(changes, str(file)) == {}


SETTINGS = FixPlan(settings={"capture_scalar_outputs": True})
STATEMENT = "torch._dynamo.config.capture_scalar_outputs = True"


def test_settings_of_a_module_are_written_to_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "settings_package"
    package.mkdir()
    for name in ("__init__", "__main__", "train"):
        (package / f"{name}.py").write_text("import torch\n")
    monkeypatch.syspath_prepend(tmp_path)
    for module, name in (("settings_package", "__main__"), ("settings_package.train", "train")):
        (change,) = user_changes(SETTINGS, main_file(["-m", module]))
        assert Path(change.path) == package / f"{name}.py"
        assert STATEMENT in change.after


@pytest.mark.parametrize("module", ["torch.distributed.run", "no_such_module", "sys"])
def test_settings_that_cannot_be_written_are_listed(module: str) -> None:
    with pytest.raises(FixError, match="add these statements by hand") as raised:
        user_changes(SETTINGS, main_file(["-m", module]))
    assert f"import torch._dynamo; {STATEMENT}" in str(raised.value)
    assert "\n" not in str(raised.value)

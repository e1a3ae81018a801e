"""Several files are written all or none, and an interrupted `--apply` is taken back."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fullgraph.fix.apply import Change, apply_changes, journal, recover, undo
from fullgraph.fix.model import FixError
from fullgraph.folders import undo_folder


@pytest.fixture
def changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Change]:
    """Three files with their old text, and the changes that write the new one."""
    monkeypatch.setenv("FULLGRAPH_HOME", str(tmp_path / "home"))
    made = [Change(str(tmp_path / f"m{n}.py"), f"old {n}\n", f"new {n}\n") for n in range(3)]
    for each in made:
        Path(each.path).write_text(each.before)
    return made


def texts(changes: list[Change]) -> list[str]:
    return [Path(each.path).read_text() for each in changes]


def interrupt(changes: list[Change], monkeypatch: pytest.MonkeyPatch) -> None:
    """Write the files as a process that is killed when the first one has been written."""
    replace = os.replace

    def killed(source: Path, target: str) -> None:
        if Path(target).name == "m1.py":
            raise BaseExceptionGroup("killed", [KeyboardInterrupt()])
        replace(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(journal, "roll_back", lambda *_: ())
        patch.setattr(os, "replace", killed)
        with pytest.raises(BaseExceptionGroup):
            apply_changes(changes, force=True)
    assert texts(changes) == ["new 0\n", "old 1\n", "old 2\n"]


def test_a_file_that_has_another_text_than_was_read_is_not_written_and_neither_are_the_others(
    changes: list[Change],
) -> None:
    Path(changes[2].path).write_text("mine\n")
    with pytest.raises(FixError, match=r"m2.py was changed by another program meanwhile"):
        apply_changes(changes, force=True)
    assert texts(changes) == ["old 0\n", "old 1\n", "mine\n"]
    assert recover() == ((), ())


def test_a_file_that_changes_while_others_are_written_stays_and_they_are_restored(
    changes: list[Change], monkeypatch: pytest.MonkeyPatch
) -> None:
    replace = os.replace

    def replace_and_change_another(source: Path, target: str) -> None:
        replace(source, target)
        Path(changes[2].path).write_text("mine\n")

    monkeypatch.setattr(os, "replace", replace_and_change_another)
    with pytest.raises(FixError, match=r"m2.py was changed by another program meanwhile"):
        apply_changes(changes, force=True)
    assert texts(changes) == ["old 0\n", "old 1\n", "mine\n"]
    assert recover() == ((), ())


def test_an_interrupted_apply_is_taken_back_by_the_next_start(
    changes: list[Change], monkeypatch: pytest.MonkeyPatch
) -> None:
    interrupt(changes, monkeypatch)
    restored, problems = recover()
    assert (len(restored), problems) == (1, ())
    assert texts(changes) == ["old 0\n", "old 1\n", "old 2\n"]
    assert list(undo_folder().glob("*.pending")) == []
    apply_changes(changes, force=True)
    assert texts(changes) == ["new 0\n", "new 1\n", "new 2\n"]


def test_undo_takes_an_interrupted_apply_back(
    changes: list[Change], monkeypatch: pytest.MonkeyPatch
) -> None:
    interrupt(changes, monkeypatch)
    assert len(undo(force=False, script=changes[1].path)) == 3
    assert texts(changes) == ["old 0\n", "old 1\n", "old 2\n"]


def test_a_file_that_was_changed_after_the_interruption_is_restored_only_by_force(
    changes: list[Change], monkeypatch: pytest.MonkeyPatch
) -> None:
    interrupt(changes, monkeypatch)
    Path(changes[1].path).write_text("mine\n")
    restored, problems = recover()
    assert restored == ()
    assert "m1.py was changed since; fullgraph fix --undo --force" in problems[0]
    with pytest.raises(FixError, match=r"m1.py was changed since"):
        undo(force=False, script=changes[1].path)
    with pytest.raises(FixError, match=r"m1.py was changed since"):
        apply_changes(changes[:1], force=True)
    assert texts(changes) == ["new 0\n", "mine\n", "old 2\n"]
    undo(force=True, script=changes[1].path)
    assert texts(changes) == ["old 0\n", "old 1\n", "old 2\n"]


def test_permissions_and_symbolic_links_stay(changes: list[Change], tmp_path: Path) -> None:
    path = Path(changes[0].path)
    path.chmod(0o750)
    link = tmp_path / "link.py"
    link.symlink_to(path)
    apply_changes(changes, force=True)
    assert path.stat().st_mode & 0o7777 == 0o750
    assert link.is_symlink()
    undo(force=False, script=str(link))
    assert path.stat().st_mode & 0o7777 == 0o750
    assert texts(changes) == ["old 0\n", "old 1\n", "old 2\n"]
    assert sorted(each.name for each in tmp_path.glob(".*")) == []


def test_two_processes_do_not_write_at_the_same_time(
    changes: list[Change], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal, "_LONGEST_WAIT", 0)
    undo_folder().mkdir(parents=True)
    with journal._locked(), pytest.raises(FixError, match="another fullgraph fix is writing"):
        apply_changes(changes, force=True)
    assert texts(changes) == ["old 0\n", "old 1\n", "old 2\n"]


def test_an_undo_folder_that_cannot_be_used_is_one_line(
    changes: list[Change], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    undo_folder().mkdir(parents=True)
    (undo_folder() / "1.pending").write_text("{")
    assert "delete it to go on without it" in recover().problems[0]
    (undo_folder() / "lock").unlink()
    (undo_folder() / "lock").mkdir()
    assert "cannot write to" in recover().problems[0]
    monkeypatch.setenv("FULLGRAPH_HOME", changes[0].path)
    assert recover() == ((), ())
    with pytest.raises(FixError, match="cannot keep what --undo needs"):
        apply_changes(changes, force=True)

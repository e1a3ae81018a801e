"""Which files `--apply` may write: a library is never written, however it is installed."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from fullgraph.fix.apply import third_party_patches, user_changes, write_patch
from fullgraph.fix.apply.project import Project
from fullgraph.fix.model import FixPlan
from fullgraph.fix.source.edits import FileEdits, insert_lines


def file_in(folder: Path, name: str) -> str:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("x = 1\n")
    return str(file)


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a program that has no marker of a project."""
    folder = tmp_path / "app"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.parametrize(
    ("name", "marker"),
    [
        ("site-packages/mylib/__init__.py", ""),
        ("dist-packages/mylib.py", ""),
        ("elsewhere/mylib/__init__.py", ""),
        # An editable install, also one that lies in the folder of the program.
        ("source/mylib/__init__.py", "source/pyproject.toml"),
        ("app/source/mylib/__init__.py", "app/source/setup.py"),
        # A nested repository, and an environment.
        ("app/third_party/mylib/__init__.py", "app/third_party/.git"),
        ("app/.venv/src/mylib/__init__.py", "app/.venv/pyvenv.cfg"),
    ],
)
def test_a_library_gets_a_patch_however_it_is_installed(
    tmp_path: Path, app: Path, name: str, marker: str
) -> None:
    main = file_in(app, "prog.py")
    if marker:
        file_in(tmp_path, marker)
    library = file_in(tmp_path, name)
    edits = {p: FileEdits(p, (insert_lines("x = 1\n", 2, ["y = 2"]),)) for p in (main, library)}
    assert [each.path for each in user_changes(FixPlan(edits), main)] == [main]
    assert list(third_party_patches(FixPlan(edits), main)) == ["mylib"]


def test_torch_and_installed_packages_are_libraries(app: Path) -> None:
    project = Project(file_in(app, "prog.py"))
    assert not project.owns(torch.__file__)
    assert not project.owns(pytest.__file__)


def test_a_link_to_a_library_is_a_library(tmp_path: Path, app: Path) -> None:
    library = file_in(tmp_path, "site-packages/mylib.py")
    (app / "mylib.py").symlink_to(library)
    assert not Project(file_in(app, "prog.py")).owns(str(app / "mylib.py"))


def test_the_files_of_a_project_are_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also those above the script, and if the project is installed as editable."""
    root = tmp_path / "site-packages" / "project"
    (root / ".git").mkdir(parents=True)
    file_in(root, "pyproject.toml")
    main, module = file_in(root, "scripts/train.py"), file_in(root, "src/model/layers.py")
    monkeypatch.chdir(tmp_path)
    assert Project(main).owns(module)
    assert Project(main).owns(main)
    # The program may be an example with a project of its own.
    file_in(root, "scripts/pyproject.toml")
    assert not Project(main).owns(module)
    monkeypatch.chdir(root / "src")
    assert Project(main).owns(module)


def test_without_a_marker_the_working_directory_counts_if_the_script_is_below_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    main, module = file_in(tmp_path, "scripts/train.py"), file_in(tmp_path, "model.py")
    monkeypatch.chdir(tmp_path)
    assert Project("scripts/train.py").owns(module)
    monkeypatch.chdir(tmp_path / "scripts")
    assert not Project(main).owns(module)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert not Project(main).owns(module)


def test_a_patch_does_not_replace_a_file(app: Path) -> None:
    (app / "fullgraph-mylib.patch").write_text("precious\n")
    assert write_patch("mylib", "new\n") == "fullgraph-mylib-2.patch"
    assert write_patch("mylib", "new\n") == "fullgraph-mylib-2.patch"
    assert (app / "fullgraph-mylib.patch").read_text() == "precious\n"

"""Who owns a file: decided by folders, not by the names of folders."""

from __future__ import annotations

import importlib.util
import json
import os
import sysconfig
from pathlib import Path

import pytest

from fullgraph.model.events import Frame
from fullgraph.model.owners import Folders, Owners, display_path, this_process

PACKAGES = "/venv/lib/python3.11/site-packages"
STDLIB = "/usr/lib/python3.11"


def owners(directory: str = "/home/me/project", torch: str = f"{PACKAGES}/torch") -> Owners:
    return Owners([Folders(directory, torch, (STDLIB,), (PACKAGES,))])


@pytest.mark.parametrize(
    ("file", "owner"),
    [
        ("/home/me/project/train.py", "yours"),
        ("/elsewhere/script.py", "yours"),
        ("<string>", "yours"),
        (f"{PACKAGES}/torch/nn/functional.py", "torch"),
        (f"{PACKAGES}/torchgen/model.py", "torch"),
        (f"{PACKAGES}/functorch/einops.py", "torch"),
        (f"{PACKAGES}/torchvision/ops.py", "torchvision"),
        (f"{PACKAGES}/transformers/models/bert.py", "transformers"),
        (f"{PACKAGES}/einops.py", "einops"),
        # A namespace package has no file of its own; its parts share the name.
        (f"{PACKAGES}/google/cloud/storage.py", "google"),
        (f"{STDLIB}/copy.py", "python"),
        (f"{STDLIB}-local/mine.py", "yours"),
        ("<frozen importlib._bootstrap>", "python"),
        ("<eval_with_key>.3", "torch"),
    ],
)
def test_the_longest_known_folder_decides(file: str, owner: str) -> None:
    assert owners().owner_of(file) == owner


def test_a_project_below_a_folder_named_site_packages_is_yours() -> None:
    file = "/home/me/site-packages/project/model.py"
    known = owners("/home/me/site-packages/project")
    assert known.owner_of(file) == "yours"
    assert not known.is_torch_or_stdlib(file)
    assert known.display_path(file) == "model.py"
    assert owners("/").display_path(file) == "home/me/site-packages/project/model.py"


def test_a_working_directory_in_the_package_folder_is_yours() -> None:
    known = owners(f"{PACKAGES}/project")
    assert known.owner_of(f"{PACKAGES}/project/model.py") == "yours"
    assert known.owner_of(f"{PACKAGES}/transformers/x.py") == "transformers"
    assert owners(PACKAGES).owner_of(f"{PACKAGES}/project/model.py") == "project"


def test_packages_below_the_working_directory_are_not_yours() -> None:
    known = Owners([Folders("/p", "/p/.venv/lib/torch", (STDLIB,), ("/p/.venv/lib",))])
    assert known.owner_of("/p/.venv/lib/timm/x.py") == "timm"
    assert known.display_path("/p/.venv/lib/timm/x.py") == "timm/x.py"
    assert known.display_path("/p/src/x.py") == "src/x.py"


def test_an_editable_torch_is_torch_and_an_editable_library_is_yours() -> None:
    known = owners(torch="/src/pytorch/torch")
    assert known.owner_of("/src/pytorch/torch/nn/modules.py") == "torch"
    assert known.is_torch_or_stdlib("/src/pytorch/torchgen/model.py")
    assert known.owner_of("/src/pytorch/test/test_nn.py") == "yours"
    assert known.display_path("/src/pytorch/torch/nn/modules.py") == "torch/nn/modules.py"
    assert known.owner_of("/src/mylib/mylib/core.py") == "yours"


def test_packages_inside_the_standard_library_are_not_the_standard_library() -> None:
    folder = f"{STDLIB}/dist-packages"
    known = Owners([Folders("/p", f"{folder}/torch", (STDLIB,), (folder,))])
    assert known.owner_of(f"{folder}/timm/x.py") == "timm"
    assert known.is_torch_or_stdlib(f"{folder}/torch/x.py")
    assert known.is_torch_or_stdlib(f"{STDLIB}/copy.py")


def test_a_session_from_windows_is_understood_anywhere() -> None:
    packages = r"C:\venv\Lib\site-packages"
    known = Owners([Folders(r"C:\me", rf"{packages}\torch", (r"C:\Python\Lib",), (packages,))])
    assert known.owner_of(rf"{packages}\torch\nn.py") == "torch"
    assert known.owner_of(rf"{packages}\torchgen\x.py") == "torch"
    assert known.owner_of(rf"{packages}\timm\x.py") == "timm"
    assert known.display_path(r"C:\me\x.py") == "x.py"


def test_a_stack_belongs_to_the_innermost_frame_outside_of_python() -> None:
    stack = [Frame("/home/me/project/x.py", 1, "f"), Frame(f"{STDLIB}/copy.py", 2, "copy")]
    assert owners().owner_of_stack(stack) == "yours"
    assert owners().user_frame(stack) == stack[0]
    assert owners().user_frame(stack[1:]) is None


def test_a_file_outside_of_all_folders_is_shown_in_full() -> None:
    assert display_path("/a/b.py", ["", "/c"], []) == "/a/b.py"


def test_this_process_knows_its_own_folders() -> None:
    spec = importlib.util.find_spec("torch")
    assert spec is not None
    assert spec.origin is not None
    assert this_process().owner_of(spec.origin) == "torch"
    assert this_process().owner_of(str(json.__file__)) == "python"
    assert this_process().owner_of(pytest.__file__) == "pytest"
    assert this_process().owner_of(__file__) == "yours"


def test_the_target_of_a_linked_package_folder_is_a_package_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib64").symlink_to("lib")
    places = dict.fromkeys(sysconfig.get_path_names(), str(tmp_path / "lib64"))
    monkeypatch.setattr(sysconfig, "get_paths", lambda: places)
    from fullgraph.model.owners import folders_of_this_process

    assert os.path.realpath(tmp_path / "lib") in folders_of_this_process().package_folders


GENERATED = Frame("<string>", 2, "__init__")
MINE = Frame("/home/me/project/train.py", 5, "main")
LIBRARY = Frame(f"{PACKAGES}/timm/model.py", 9, "forward")
TORCH = Frame(f"{PACKAGES}/torch/nn/modules/module.py", 1, "_call_impl")
PYTHON = Frame("<frozen genericpath>", 19, "exists")


@pytest.mark.parametrize(
    ("frames", "user", "editable"),
    [
        ([MINE], MINE, MINE),
        ([MINE, LIBRARY], MINE, LIBRARY),
        ([MINE, LIBRARY, TORCH, PYTHON], MINE, LIBRARY),
        # The `__init__` of a data class belongs to the code that calls it.
        ([MINE, LIBRARY, GENERATED, TORCH], MINE, LIBRARY),
        # `python -c` has nothing else.
        ([GENERATED], GENERATED, None),
        ([Frame("<ipython-input-1-a>", 3, "f")], *[Frame("<ipython-input-1-a>", 3, "f")] * 2),
        ([TORCH, PYTHON], None, None),
        ([], None, None),
    ],
)
def test_the_nearest_frame_that_a_reader_can_edit(
    frames: list[Frame], user: Frame | None, editable: Frame | None
) -> None:
    assert owners().user_frame(frames) == user
    assert owners().editable_frame(frames) == editable

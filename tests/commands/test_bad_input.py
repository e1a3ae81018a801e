"""Bad input: one clear line, exit code 2, no traceback."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from tests.conftest import PROGRAMS, Cli


def assert_one_clear_line(result: subprocess.CompletedProcess[str], *parts: str) -> None:
    assert result.returncode == 2
    assert result.stdout == ""
    lines = result.stderr.strip().splitlines()
    assert len(lines) == 1, result.stderr
    for part in parts:
        assert part in lines[0]


def test_no_such_script(cli: Cli) -> None:
    assert_one_clear_line(cli("run", "absent.py"), "there is no file absent.py")


def test_no_program_at_all(cli: Cli) -> None:
    assert_one_clear_line(cli("run"), "name a script")


def test_a_directory(cli: Cli) -> None:
    (cli.folder / "folder").mkdir()
    assert_one_clear_line(cli("run", "folder"), "folder is a directory")


def test_a_directory_with_a_main_is_a_program(cli: Cli) -> None:
    (cli.folder / "app").mkdir()
    (cli.folder / "app" / "__main__.py").write_text("print('main')")
    assert cli("run", "app").stdout == "main\n"


def test_a_syntax_error_in_the_script(cli: Cli) -> None:
    (cli.folder / "broken.py").write_text("x = 1\nif x\n    pass\n")
    assert_one_clear_line(cli("run", "broken.py"), "broken.py:2", "expected ':'")


def test_a_script_that_is_binary(cli: Cli) -> None:
    (cli.folder / "binary.py").write_bytes(b"\x00\xff\x00")
    assert_one_clear_line(cli("run", "binary.py"), "binary.py")


def test_a_module_that_is_not_there(cli: Cli) -> None:
    assert_one_clear_line(cli("run", "-m", "no_such_module"), "no module named no_such_module")
    assert_one_clear_line(cli("run", "-m"), "-m needs the name of a module")


def test_an_output_that_cannot_be_written_is_found_before_the_run(cli: Cli) -> None:
    result = cli("run", "-o", "missing/report.json", str(PROGRAMS / "breaks.py"))
    assert_one_clear_line(result, "missing/report.json")


@pytest.mark.parametrize(
    ("content", "part"),
    [
        (b"", "is empty"),
        (b"\x00\x01\xff", "not a fullgraph session"),
        (b'{"event":"header","format":999,"fullgraph":"9"}\n', "newer fullgraph"),
        (b'{"event":"header","format":1,"fullgraph":"0"}\n{"event":\n{}\n', "line 2"),
    ],
)
def test_a_session_that_cannot_be_read(cli: Cli, content: bytes, part: str) -> None:
    (cli.folder / "session.jsonl").write_bytes(content)
    assert_one_clear_line(cli("report", "session.jsonl"), "session.jsonl", part)


def test_the_old_name_of_an_option_names_the_new_one(cli: Cli) -> None:
    assert_one_clear_line(cli("run", "--mend", str(PROGRAMS / "breaks.py")), "use --fix")


def test_no_earlier_run(cli: Cli) -> None:
    assert_one_clear_line(cli("report"), "there is no earlier run")


def test_an_unknown_format_names_the_known_ones(cli: Cli) -> None:
    result = cli("report", "--format", "pdf", "x")
    assert result.returncode == 2
    assert "'json'" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.fixture(scope="module")
def python_without_torch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A real interpreter that has what fullgraph needs, but no torch."""
    folder = tmp_path_factory.mktemp("bare")
    venv.create(folder, with_pip=False, symlinks=True)
    packages = folder / "lib" / f"python3.{sys.version_info.minor}" / "site-packages"
    import click
    import msgspec

    import fullgraph

    for module in (click, msgspec, fullgraph):
        source = Path(module.__file__ or "").parent
        os.symlink(source, packages / source.name)
    return folder


def run_without_torch(folder: Path, tmp_path: Path) -> subprocess.CompletedProcess[str]:
    (tmp_path / "script.py").write_text("print('ran')")
    return subprocess.run(
        [str(folder / "bin" / "python"), "-m", "fullgraph", "run", "script.py"],
        capture_output=True, text=True, cwd=tmp_path, check=False,
    )  # fmt: skip


def test_torch_is_missing(python_without_torch: Path, tmp_path: Path) -> None:
    result = run_without_torch(python_without_torch, tmp_path)
    assert_one_clear_line(result, "torch is not installed", "pip install torch")


def test_torch_is_too_old(python_without_torch: Path, tmp_path: Path) -> None:
    packages = next(python_without_torch.glob("lib/python*/site-packages"))
    (packages / "torch").mkdir()
    (packages / "torch" / "__init__.py").touch()
    information = packages / "torch-2.7.1.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: torch\nVersion: 2.7.1\n")
    result = run_without_torch(python_without_torch, tmp_path)
    assert_one_clear_line(result, "torch 2.7.1 is too old", "2.8 or later")

"""The check of a function by name: both analyses together, and bad input."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from fullgraph.fix.purity.check import PurityError, check


@pytest.fixture(autouse=True)
def forget_the_program() -> Iterator[None]:
    """Leave no module `program` for tests that import one of their own."""
    yield
    sys.modules.pop("program", None)


def program(folder: Path, source: str) -> str:
    """Write a file and return the name of its function `f`."""
    file = folder / "program.py"
    file.write_text(textwrap.dedent(source))
    return f"{file}:f"


def test_a_pure_function_is_run_twice_with_the_inputs_of_its_file(tmp_path: Path) -> None:
    source = """
    import torch
    def f(x):
        return x + 1
    def inputs():
        return (torch.ones(3),)
    """
    result = check(program(tmp_path, source))
    assert result.pure
    assert result.findings == ()
    assert result.ran == "run twice with inputs()"


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("effect", "open(__file__ + '.txt', 'w').close()"),
        ("input", "getattr(x, 'add_')(1)"),
        ("changing", "getattr(torch, 'rand')(1)"),
        ("state", "globals()['STATE'].append(1)"),
        ("changing", "return x * next(COUNTER)"),
    ],
)
def test_the_run_finds_more_than_the_source_shows(tmp_path: Path, kind: str, body: str) -> None:
    source = f"""
    import itertools
    import torch
    STATE = []
    COUNTER = itertools.count()
    def f(x):
        {body}
        return x
    """
    result = check(program(tmp_path, source), "(torch.ones(3),)")
    assert not result.pure
    assert kind in {finding.kind for finding in result.findings if finding.by == "run"}


def test_one_object_is_one_argument(tmp_path: Path) -> None:
    result = check(program(tmp_path, "def f(x):\n    return x + 1\n"), "torch.ones(3)")
    assert result.ran == "run twice with torch.ones(3)"
    assert result.pure


def test_the_exception_of_the_run_is_shown(tmp_path: Path) -> None:
    result = check(program(tmp_path, "def f(x):\n    return x.missing\n"), "(1,)")
    assert result.ran == "run twice with (1,); it raises AttributeError"


def test_a_method_is_found_by_its_class(tmp_path: Path) -> None:
    source = "class A:\n    @staticmethod\n    def g(x):\n        return x + 1\n"
    name = program(tmp_path, source).replace(":f", ":A.g")
    assert check(name, "(1,)").pure


def test_without_inputs_only_the_source_is_analyzed(tmp_path: Path) -> None:
    result = check(program(tmp_path, "raise SystemExit\ndef f(x):\n    return x\n"))
    assert result.pure
    assert result.ran == "not run: the file has no function inputs(); pass --inputs to run it"


def test_nothing_is_imported_with_no_run(tmp_path: Path) -> None:
    source = "raise SystemExit\ndef f(x):\n    return x\ndef inputs():\n    return (1,)\n"
    result = check(program(tmp_path, source), run=False)
    assert result.pure
    assert result.ran == "not run (--no-run)"


@pytest.mark.parametrize(
    ("source", "inputs", "message"),
    [
        ("1 / 0\ndef f(x):\n    return x\n", "(1,)", "cannot be imported: ZeroDivisionError"),
        ("def f(x):\n    return x\n", "missing", "--inputs missing raises NameError"),
        ("def f(x):\n    return x\ndef inputs():\n    1 / 0\n", None, r"inputs\(\) raises Zero"),
        ("def f(x):\n    return x\ndel f\n", "(1,)", "no function 'f' after its import"),
        ("def g(x):\n    return x\n", None, "name a top-level function or Class.method"),
        ("def f(:\n", None, "is not valid Python"),
    ],
)
def test_bad_input_is_an_error_with_a_reason(
    tmp_path: Path, source: str, inputs: str | None, message: str
) -> None:
    with pytest.raises(PurityError, match=message):
        check(program(tmp_path, source), inputs)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("f", "write MODULE:NAME or FILE.py:NAME"),
        (":f", "write MODULE:NAME or FILE.py:NAME"),
        ("missing.py:f", "there is no file missing.py"),
        ("missing_module:f", "there is no module missing_module"),
        ("missing_package.module:f", "cannot be found"),
        ("math:sin", "not written in Python"),
    ],
)
def test_a_name_that_cannot_be_found(name: str, message: str) -> None:
    with pytest.raises(PurityError, match=message):
        check(name)


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    file = tmp_path / "latin.py"
    file.write_bytes(b"# \xff\ndef f(x):\n    return x\n")
    with pytest.raises(PurityError, match="cannot be read"):
        check(f"{file}:f")

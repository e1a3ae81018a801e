"""Where a break of one plan's program is in the program of another plan."""

from __future__ import annotations

from pathlib import Path

import pytest

import fullgraph
from fullgraph.fix.source.edits import Edit, FileEdits
from fullgraph.fix.source.program import ProgramSource
from fullgraph.model.events import Frame
from fullgraph.model.report import RootCause
from tests.fix.causes import root_cause

TEXT = "def g(x):\n    print(x)\n    return x\n\ndef f(x):\n    return g(x)\n\nf(1)\n"


@pytest.fixture
def path(tmp_path: Path) -> str:
    file = tmp_path / "program.py"
    file.write_text(TEXT)
    return str(file)


def edited(path: str, before: str, after: str) -> ProgramSource:
    start = TEXT.index(before)
    return ProgramSource({path: FileEdits(path, (Edit(start, start + len(before), after),))})


def met_at(path: str, line: int, caller: int) -> RootCause:
    """Return a break in `g`, which `f` calls; the script calls `f` at line 8, before the trial."""
    machinery = f"{Path(fullgraph.__file__).parent}/fix/trials/execute.py"
    stack = (
        Frame(path, 8, "<module>"),
        Frame(machinery, 100, "run"),
        Frame(path, caller, "f"),
        Frame(path, line, "g"),
    )
    return root_cause(file=path, line=line, end_line=line, function="g", stack=stack)


def test_a_break_moves_with_the_lines_before_it(path: str) -> None:
    shorter = edited(path, "def g(x):\n", "")
    moved = ProgramSource({}).carried(met_at(path, 2, 6), shorter)
    assert moved == met_at(path, 1, 5)
    assert shorter.carried(met_at(path, 1, 5), ProgramSource({})) == met_at(path, 2, 6)


@pytest.mark.parametrize("before", ["print(x)", "return g(x)"])
def test_a_break_on_a_changed_path_is_not_found_again(path: str, before: str) -> None:
    other = edited(path, before, "pass")
    assert ProgramSource({}).carried(met_at(path, 2, 6), other) is None


def test_the_code_that_makes_the_recorded_call_keeps_its_lines(path: str) -> None:
    """It runs since before the trial, so the edits of a plan are not in it."""
    longer = edited(path, "def g", "# A comment.\ndef g")
    cause = met_at(path, 3, 7)
    assert longer.original_lines(cause) == {(path, 2), (path, 6)}
    changed = edited(path, "f(1)", "f(2)")
    assert longer.carried(cause, changed) == met_at(path, 2, 6)
    assert [each.line for each in longer.context(cause).cause.stack] == [7, 3]

"""Which fixes `--apply` writes."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from fullgraph.fix.apply.writable import NO_RERUN, why_not_written
from fullgraph.fix.model import Candidate
from fullgraph.fix.source.edits import Edit, FileEdits, insert_lines

TEXT = "import torch\n\n\ndef f(x):\n    return x + 1\n"
INSIDE = Edit(TEXT.index("1"), TEXT.index("1") + 1, "2")


@pytest.fixture
def main(tmp_path: Path) -> str:
    """The file of a program."""
    file = tmp_path / "prog.py"
    file.write_text(TEXT)
    return str(file)


@pytest.mark.parametrize("reruns", [False, True])
def test_changes_outside_of_functions_are_written_only_if_the_program_runs_again(
    main: str, reruns: bool
) -> None:
    def reason(*edits: Edit, **fields: bool) -> str:
        file = FileEdits(main, edits) if edits else None
        settings = {"capture_scalar_outputs": True} if fields else {}
        return why_not_written(Candidate(file, settings=settings), main, reruns=reruns)

    assert reason(INSIDE) == ""
    refused = "" if reruns else NO_RERUN
    assert reason(INSIDE, insert_lines(TEXT, 2, ["import math"])) == refused
    assert reason(settings=True) == refused


def test_guards_and_libraries_are_never_written(main: str) -> None:
    assert "value guard" in why_not_written(Candidate(guards=True), main, reruns=True)
    library = Candidate(FileEdits(torch.__file__, ()))
    assert why_not_written(library, main, reruns=True) == "torch is not your code"

"""Running a program in eager mode, and what is known about one that fails."""

from __future__ import annotations

from pathlib import Path

import torch

from fullgraph.fix.record.program import users_line
from fullgraph.fix.record.recorder import CallRecorder

PROGRAM = """\
import torch


def f(x):
    return torch.nn.functional.relu(x)


torch.compile(f)("not a tensor")
"""


def test_an_error_names_the_line_of_the_user_and_not_that_of_torch_or_the_recorder(
    tmp_path: Path,
) -> None:
    file = tmp_path / "program.py"
    file.write_text(PROGRAM)
    restore = CallRecorder().install()
    try:
        exec(compile(PROGRAM, str(file), "exec"), {"torch": torch})
    except TypeError as error:
        found = users_line(error)
    finally:
        restore()
    assert found == f"{file}:5: return torch.nn.functional.relu(x)"

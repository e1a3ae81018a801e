"""Blocks next to functions that accepted fixes have inserted."""

from __future__ import annotations

from fullgraph.fix.source.context import BreakContext, SourceFile
from fullgraph.fix.source.edits import insert_lines
from tests.fix.break_contexts import candidates_of, refusals_of
from tests.fix.causes import root_cause

PROGRAM = """\
import torch

def f(x):
    x = x + 1
    with open("log", "w") as file:
        file.write(str(x.shape))
    return x
"""
INSERTED = [
    "def on_true():",
    "    return x.clamp(min=0)",
    "",
    "x = torch.cond(x.sum() > 0, on_true, on_true)",
]


def break_in_block(line: int, indent: int, *, is_original: bool = False) -> BreakContext:
    """Return the break at `open`, after a fix has inserted a function in front of a line."""
    edit = insert_lines(PROGRAM, line, [" " * indent + each if each else "" for each in INSERTED])
    file = SourceFile("program.py", PROGRAM, [edit])
    if is_original:
        file = SourceFile("program.py", file.text)
    at = next(n for n, text in enumerate(file.text.splitlines(), 1) if "open(" in text)
    cause = root_cause(id="GB0059", category="side-effects", line=at, column=10)
    return BreakContext(cause, {"program.py": file}.get)


def test_a_function_of_an_accepted_fix_is_not_in_the_way() -> None:
    (candidate,) = candidates_of("extract_block", break_in_block(5, 4))
    assert candidate.file is not None
    assert any("_f_in_eager_mode(x)" in edit.replacement for edit in candidate.file.edits)


def test_a_function_of_the_user_is_in_the_way() -> None:
    (refusal,) = refusals_of("extract_block", break_in_block(5, 4, is_original=True))
    assert refusal.reason == "the function contains another function"


def test_a_fix_inside_of_the_block_is_named() -> None:
    (refusal,) = refusals_of("extract_block", break_in_block(6, 8))
    assert refusal.reason == "the fix branch_to_cond has put `on_true` into the block"

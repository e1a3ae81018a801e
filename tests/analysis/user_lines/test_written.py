"""Which line last wrote a value that is guarded, as far as the source alone tells."""

from __future__ import annotations

import textwrap

import pytest

from fullgraph.analysis.user_lines.source_file import SourceFile
from fullgraph.analysis.user_lines.written import WriterFinder
from fullgraph.model.events import Code, GuardChange
from fullgraph.python_source import parse

FILE = "program.py"
SCALE = GuardChange("int", "closure", "L['scale']", "scale", before="1", now="3")
RATE = GuardChange(
    "int", "attribute", "L['self'].rate", "self.rate", before="1", now="2", holder="main.Model"
)


def line_of_writer(program: str, change: GuardChange) -> str | None:
    """Return the content of the line, without comments, that is said to have written a value."""
    text = textwrap.dedent(program)
    tree = parse(text)
    assert tree is not None
    lines = text.splitlines()
    start = next(number for number, line in enumerate(lines, 1) if "# compiled" in line)
    found = WriterFinder([SourceFile(FILE, text, tree)], []).find(Code(FILE, start, "f"), change)
    return None if found is None else lines[found.line - 1].partition("#")[0].strip()


MAKE = """
    def make(scale):
        def f(x):  # compiled
            return x * scale
        return f
"""


@pytest.mark.parametrize(
    ("calls", "line"),
    [
        ("g = make(3)", "g = make(3)"),
        # Each call makes another closure.
        ("g = make(3)\n    h = make(4)", None),
        ("functions = list(map(make, [1, 3]))", None),
    ],
)
def test_a_closure_variable_that_is_a_parameter_comes_from_the_only_call(
    calls: str, line: str | None
) -> None:
    assert line_of_writer(f"{MAKE}\n    {calls}\n", SCALE) == line


def test_a_closure_variable_that_another_function_writes() -> None:
    program = """
    def main():
        scale = 1
        def f(x):  # compiled
            return x * scale
        def raise_scale():
            nonlocal scale
            scale = scale + 2
        return f, raise_scale
    """
    assert line_of_writer(program, SCALE) == "scale = scale + 2"


@pytest.mark.parametrize(
    ("statements", "line"),
    [
        ("model.rate = 2", "model.rate = 2"),
        ("model.rate += 1", "model.rate += 1"),
        # Another constant than the new value.
        ("model.rate = 5\n    model.rate = 2", "model.rate = 2"),
        # Both could have written it.
        ("model.rate = two()\n    model.rate = 2", None),
        ("setattr(model, name, 2)", None),
        ("model.rate = 2\n    setattr(model, name, 2)", None),
        ("model.rate = 2\n    setattr(model, 'depth', 2)", "model.rate = 2"),
    ],
)
def test_an_attribute_has_the_only_line_that_can_have_written_it(
    statements: str, line: str | None
) -> None:
    program = f"""
    class Model:
        def __init__(self):
            self.rate = 1
        def f(self, x):  # compiled
            return x * self.rate
    model = Model()
    {statements}
    """
    assert line_of_writer(program, RATE) == line

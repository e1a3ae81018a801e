"""Positions in a text, whatever characters and line endings it has."""

from __future__ import annotations

import ast
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from fullgraph.fix.source.edits import apply_edits
from fullgraph.fix.source.locate import function_at, nodes_at, statement_of
from fullgraph.fix.source.module_level import insert_at_top, missing_imports
from fullgraph.fix.source.text import (
    line_at,
    line_start,
    read_source,
    source_line,
    source_of,
    split_lines,
)

odd = st.text(alphabet="ab é𝒳\x0c\x1c\u2028#", max_size=6)


@given(st.text("ab\n\x0c\x1c", max_size=30))
def test_lines_and_offsets_agree(text: str) -> None:
    lines = split_lines(text)
    assert "".join(lines) == text
    for number, line in enumerate(lines, 1):
        assert source_line(text, number) == line.removesuffix("\n")
        assert line_at(text, line_start(text, number)) == number
    assert line_start(text, len(lines) + 1) == len(text)
    assert source_line(text, len(lines) + 1) == ""


@given(odd, odd)
def test_a_column_counts_characters(before: str, after: str) -> None:
    source = f"def f(x):\n    a = '{before}', x.y(1, 2), '{after}'\n    return a\n"
    tree = ast.parse(source)
    column = split_lines(source)[1].index("x.y(") + 1
    found = nodes_at(tree, 2, column, source)
    assert source_of(source, found[0]) == "x"
    assert "x.y(1, 2)" in [source_of(source, node) for node in found]


NESTED = """\
def outer(x):
    def inner(y):
        return y
    return inner(x)

async def later(x):
    return x

z = 1
"""


def test_the_innermost_function_around_a_line() -> None:
    tree = ast.parse(NESTED)
    found = [function_at(tree, line) for line in (3, 4, 7, 9)]
    assert [each.name if each else None for each in found] == ["inner", "outer", None, None]


def test_the_statement_around_a_node() -> None:
    tree = ast.parse(NESTED)
    call = next(node for node in ast.walk(tree) if isinstance(node, ast.Call))
    assert isinstance(statement_of(tree, call), ast.Return)


def test_lines_are_read_with_one_kind_of_end(tmp_path: Path) -> None:
    file = tmp_path / "f.py"
    file.write_bytes(b"a = 1\r\nb = 2\r\n")
    assert read_source(str(file)) == "a = 1\nb = 2\n"


def test_a_file_is_read_in_the_encoding_that_it_declares(tmp_path: Path) -> None:
    file = tmp_path / "f.py"
    file.write_bytes(b"a = '\xff'\n")
    assert read_source(str(file)) is None
    file.write_bytes(b"# coding: latin-1\na = '\xff'\n")
    assert read_source(str(file)) == "# coding: latin-1\na = '\u00ff'\n"
    file.write_bytes(b"\xef\xbb\xbfa = 1\n")
    assert read_source(str(file)) == "a = 1\n"
    assert read_source(str(tmp_path / "missing.py")) is None


def test_an_import_that_is_there_is_not_missing() -> None:
    text = '"""About."""\n\nimport torch\nfrom math import pi\n\nx = pi\n'
    assert missing_imports(text, ["import torch"]) == ()
    assert missing_imports("import math, torch\n", ["import math", "import torch"]) == ()
    assert missing_imports(text, ["import math", "import torch"]) == ("import math",)


def test_an_import_goes_below_the_others() -> None:
    text = '"""About."""\n\nimport torch\n\nx = 1\n'
    new = apply_edits(text, insert_at_top(text, ["import math"], []))
    assert new == '"""About."""\n\nimport torch\nimport math\n\nx = 1\n'


def test_new_code_stands_below_the_import_that_it_needs() -> None:
    text = "import os\nos.environ['A'] = '1'\nimport torch\n\n\ndef f(x):\n    return x\n"
    helper = "\n\n@torch.compiler.disable\ndef g(x):\n    return x\n"
    new = apply_edits(text, insert_at_top(text, [], [helper]))
    exec(compile(new, "program.py", "exec"), {})
    assert new.index("import torch") < new.index("def g") < new.index("def f")

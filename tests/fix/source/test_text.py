"""A function is taken out of a file and put back without touching anything else."""

from __future__ import annotations

import ast

from hypothesis import given
from hypothesis import strategies as st

from fullgraph.fix.source.text import enclosing_function, replaced, with_imports

BODIES = st.sampled_from(
    [
        "return x",
        "y = x + 1  # why\n    return y",
        '"""A text\n  that is not\nindented."""\n    return x',
        "for i in range(3):\n        x = x + i\n    return x",
        "def inner(z):\n        return z * x\n    return inner(x)",
        "return f'''{x}\n  and {x}'''",
    ]
)


def indented(text: str, indent: str) -> str:
    """As a person would: what is within quotes keeps its own margin."""
    lines = text.splitlines(keepends=True)
    quoted = {
        number
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Constant | ast.JoinedStr) and node.end_lineno
        for number in range(node.lineno + 1, node.end_lineno + 1)
    }
    return "".join(
        line if number in quoted or not line.strip() else indent + line
        for number, line in enumerate(lines, 1)
    )


@st.composite
def files(draw: st.DrawFn) -> str:
    parts = ["import torch\n\n\n"]
    for number in range(draw(st.integers(1, 4))):
        function = f"def f{number}(x):\n    {draw(BODIES)}\n"
        if draw(st.booleans()):
            parts.append(f"class C{number}:\n    @staticmethod\n{indented(function, '    ')}\n\n")
        else:
            parts.append(f"{function}\n\n")
    return "".join(parts)


@given(files())
def test_a_function_put_back_as_it_was_leaves_the_file_as_it_was(text: str) -> None:
    for line in range(1, len(text.splitlines()) + 1):
        for outermost in (False, True):
            block = enclosing_function(text, line, outermost=outermost)
            if block is not None:
                assert replaced(text, block, block.text) == text
                assert block.first <= line <= block.last
                ast.parse(block.text)


@given(files(), BODIES)
def test_only_the_function_changes(text: str, body: str) -> None:
    block = enclosing_function(
        text, next(n for n, each in enumerate(text.splitlines(), 1) if "def f0" in each)
    )
    assert block is not None
    new = replaced(text, block, f"def f0(x):\n    {body}\n")
    lines = text.splitlines()
    assert new.splitlines()[: block.first - 1] == lines[: block.first - 1]
    assert (
        new.splitlines()[len(new.splitlines()) - len(lines[block.last :]) :] == lines[block.last :]
    )
    ast.parse(new)


def test_a_line_outside_of_functions_has_none() -> None:
    assert enclosing_function("import torch\n\nx = 1\n", 3) is None


def test_an_import_that_is_there_is_not_added() -> None:
    text = '"""About."""\n\nimport torch\nfrom math import pi\n\nx = pi\n'
    assert with_imports(text, ("import torch",)) == (text, ())
    together = "import math, torch\n"
    assert with_imports(together, ("import math", "import torch")) == (together, ())
    new, added = with_imports(text, ("import math", "import torch"))
    assert added == ("import math",)
    assert new.index("import math") > new.index("from math import pi")
    assert new.startswith('"""About."""\n')


def test_new_code_stands_below_the_import_that_it_needs() -> None:
    text = "import os\nos.environ['A'] = '1'\nimport torch\n\n\ndef f(x):\n    return x\n"
    helper = "\n\n@torch.compiler.disable\ndef g(x):\n    return x\n"
    new, _ = with_imports(text, ("import torch", helper))
    exec(compile(new, "program.py", "exec"), {})
    assert new.index("import torch") < new.index("def g") < new.index("def f")

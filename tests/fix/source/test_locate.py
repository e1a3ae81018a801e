"""Positions of graph breaks count characters, and the syntax tree counts bytes."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullgraph.fix.source.locate import (
    body_around,
    byte_column,
    function_at,
    nodes_at,
    statements_at,
)
from fullgraph.fix.source.text import split_lines
from tests.fix.break_contexts import break_at_mark, candidates_of, edited_text, refusals_of

# Characters that `str.splitlines` takes for the end of a line although Python does not, and
# characters that have more than one byte.
odd = st.text(alphabet="ab é𝒳\x0c\x1c\u2028#", max_size=6)
names = st.sampled_from(["x", "größe", "名前"])


@given(odd, odd)
def test_a_column_counts_characters(before: str, after: str) -> None:
    source = f"def f(x):\n    a = '{before}', x.y(1, 2), '{after}'\n    return a  # {after}\n"
    column = split_lines(source)[1].index("x.y(") + 1
    found = nodes_at(ast.parse(source), 2, column, source)
    assert isinstance(found[0], ast.Name)
    assert any(isinstance(node, ast.Call) for node in found)


@given(odd)
def test_a_byte_column_is_the_length_of_the_text_before_it(line: str) -> None:
    for column in range(1, len(line) + 2):
        assert byte_column(f"\n{line}\n", 2, column) == len(line[: column - 1].encode())


@given(names, names)
@pytest.mark.parametrize(
    ("fixer", "value"), [("branch_to_where", "y + 1"), ("branch_to_cond", "torch.exp(y)")]
)
def test_a_branch_behind_other_alphabets_is_found(
    fixer: str, value: str, name: str, other: str
) -> None:
    """The break starts behind a name with more bytes than characters."""
    source = (
        f"import torch\n\ndef f({name}, y):\n"
        f"    z_{other} = {value} if {name}.sum() > 0 else y * 2  # here\n    return z_{other}\n"
    )
    context = break_at_mark(source, at=f"{name}.sum", context="TensorVariable()")
    assert candidates_of(fixer, context), source


@given(names)
def test_a_number_behind_other_alphabets_is_found(name: str) -> None:
    source = (
        f"import torch\n\ndef f({name}, y):\n"
        f"    return {name}.abs() * y.abs() / {name}.max().item()  # here\n"
    )
    context = break_at_mark(source, "GB0124", at=f"{name}.max")
    text = edited_text("item_to_tensor", context)
    assert text is not None
    assert f"/ {name}.max().detach()" in text


NESTED = """
def outer(x):
    def inner(y):
        return y  # in inner
    async def coroutine(y):
        return y  # in coroutine
    class Inner:
        def method(self):
            return x  # in method
    if x:
        return x  # in outer
"""


@pytest.mark.parametrize(
    ("mark", "expected"),
    [("inner", "inner"), ("coroutine", None), ("method", "method"), ("outer", "outer")],
)
def test_the_innermost_function_is_found_unless_it_is_a_coroutine(
    mark: str, expected: str | None
) -> None:
    line = next(n for n, each in enumerate(NESTED.split("\n"), 1) if each.endswith(f"in {mark}"))
    function = function_at(ast.parse(NESTED), line)
    assert (function.name if function else None) == expected


def test_no_function_is_around_a_line_of_the_module() -> None:
    assert function_at(ast.parse("x = 1\n"), 1) is None


def test_a_branch_in_a_lambda_is_refused() -> None:
    """The arguments of the lambda are not the names that the function binds."""
    source = (
        "import torch\n\ndef f(x, y):\n    y = y * 0.5\n"
        "    return (lambda y: y if x.sum() > 0 else y * 0.5)(x)  # here\n"
    )
    context = break_at_mark(source, at="x.sum", context="TensorVariable()")
    for fixer in ("branch_to_where", "branch_to_cond"):
        assert [each.reason for each in refusals_of(fixer, context)] == [
            "the branch is in a lambda"
        ]


def test_statements_are_listed_from_the_inside() -> None:
    tree = ast.parse(NESTED)
    found = statements_at(tree, 4)
    assert [type(each).__name__ for each in found] == ["Return", "FunctionDef", "FunctionDef"]
    assert body_around(tree, found[0]) == [found[0]]
    assert body_around(ast.parse("x = 1"), found[0]) == []

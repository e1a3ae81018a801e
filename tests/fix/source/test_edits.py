"""Changes of a text touch what they say, whatever characters surround it."""

from __future__ import annotations

import ast

from hypothesis import given
from hypothesis import strategies as st

from fullgraph.fix.source.edits import nodes_at, put_under, source_of, swapped, without
from fullgraph.fix.source.text import lines_of

# What `str.splitlines` takes for the end of a line, but Python does not, and characters that are
# longer in bytes than in columns.
odd = st.text(alphabet="ab é𝒳\x0c\x1c\u2028#", max_size=6)


def program(before: str, after: str) -> tuple[str, ast.Module]:
    source = f"def f(x):\n    a = '{before}', x.y(1, 2), '{after}'\n    return a  # {after}\n"
    return source, ast.parse(source)


@given(odd, odd)
def test_a_node_is_swapped_and_nothing_else(before: str, after: str) -> None:
    source, tree = program(before, after)
    (call,) = (node for node in ast.walk(tree) if isinstance(node, ast.Call))
    assert source_of(source, call) == "x.y(1, 2)"
    assert swapped(source, [(call, "z")]) == source.replace("x.y(1, 2)", "z")


@given(odd, odd)
def test_a_column_counts_characters(before: str, after: str) -> None:
    source, tree = program(before, after)
    column = lines_of(source)[1].index("x.y(") + 1
    found = nodes_at(tree, 2, column, source)
    assert isinstance(found[0], ast.Name)
    assert any(isinstance(node, ast.Call) for node in found)


@given(odd, odd)
def test_a_statement_is_taken_out_or_put_under_another(before: str, after: str) -> None:
    source, tree = program(before, after)
    function = tree.body[0]
    assert isinstance(function, ast.FunctionDef)
    first = function.body[0]
    gone = ast.parse(without(source, first)).body[0]
    assert isinstance(gone, ast.FunctionDef)
    assert ast.unparse(gone) == "def f(x):\n    return a"
    under = ast.parse(put_under(source, [first], "if x:")).body[0]
    assert isinstance(under, ast.FunctionDef)
    assert isinstance(under.body[0], ast.If)
    assert ast.dump(under.body[0].body[0]) == ast.dump(first)
